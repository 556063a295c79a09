"""Graders and results in the tools that people already use: a scorer for Inspect, runs in MLflow."""
