"""How many labels, questions and repeats, and what they show."""
