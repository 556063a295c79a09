"""Scores of a benchmark, and their differences."""
