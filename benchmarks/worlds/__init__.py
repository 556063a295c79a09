"""Simulated worlds behind ``docs/worlds.md``; ``benchmarks/worlds.py`` runs them."""
