"""A grader against itself: inconsistency, and where the variance comes from."""
