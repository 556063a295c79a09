"""People with each other, and a grader with people."""
