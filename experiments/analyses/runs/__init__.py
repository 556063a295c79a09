"""What runs are, how far they are, and how two of them differ."""
