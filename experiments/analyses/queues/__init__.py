"""What people should label next, and rates from what they labelled."""
