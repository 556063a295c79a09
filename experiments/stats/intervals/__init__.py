"""Intervals for a rate, clustered by question."""
