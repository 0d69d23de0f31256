"""The raw logs of a call: their names, and how they are read."""
