"""Doing what an experiment asks: the plan, the asking, its budget and its account."""
