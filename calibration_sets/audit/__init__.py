"""Auditing a question set: a random sample that people label, and two versions of a set compared by content."""
