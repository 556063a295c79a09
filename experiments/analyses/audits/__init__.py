"""Whether a question set is sound enough to be used, from an audited sample."""
