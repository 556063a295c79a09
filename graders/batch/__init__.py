"""Batch jobs: many calls handed in at once, cheaper and later."""
