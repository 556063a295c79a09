"""The revisions, oldest first; each keeps what the tables were at its time, whatever they have become since.

Up to 0004 they add only what is lacking: before there were revisions, a store got these parts one by one.
"""
