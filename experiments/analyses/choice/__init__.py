"""Which grader: candidates, their rates, the rule, and the set that is not worse than the best."""
