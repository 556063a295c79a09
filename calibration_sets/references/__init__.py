"""References: target answers, their aliases and acceptable ranges, and the check of a response against them."""
