"""A grader against people: error rates, their bounds and parts, majorities, the confusion matrix."""
