"""The configuration of a training: the tables of its file, and its scenarios."""
