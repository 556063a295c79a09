"""Who judges: versioned grader prompts, models, and how their replies are read."""
