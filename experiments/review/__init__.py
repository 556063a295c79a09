"""Labelling by people: the labels they give, kept from the moment they give them, and the local pages they use."""
