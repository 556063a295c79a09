"""A stored run as pandas frames with documented columns; ``experiments`` offers them."""
