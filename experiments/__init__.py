"""What is asked of graders: experiments, their runs, statistics and reports."""
