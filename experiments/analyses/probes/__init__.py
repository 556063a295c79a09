"""Where a prompt is weak, by probes whose labels hold by construction."""
