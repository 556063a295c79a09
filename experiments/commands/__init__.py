"""Commands over experiments: each parses, calls and prints."""
