"""Figures of a run: for the page in the colours of its theme, and for a paper as SVG, PDF and CSV."""
