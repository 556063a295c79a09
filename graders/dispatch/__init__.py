"""Sending calls to services: how many at a time, what is tried again, when to stop."""
