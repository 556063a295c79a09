"""Sums by question: the bootstrap, robust means and sign flips that other statistics rest on."""
