"""How many labels and repeats pay."""
