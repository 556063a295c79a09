"""Graders and wordings against each other."""
