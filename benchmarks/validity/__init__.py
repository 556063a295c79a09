"""Simulation grids behind ``docs/validity.md``; ``benchmarks/validity.py`` runs them."""
