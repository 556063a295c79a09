"""Runs whose calls are handed in as batch jobs."""
