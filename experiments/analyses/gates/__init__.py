"""Whether a grader keeps its rules, and whether it still judges as it did."""
