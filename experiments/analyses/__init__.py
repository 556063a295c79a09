"""What an experiment is decided by: one file an analysis, pure over what a run's report is built from."""
