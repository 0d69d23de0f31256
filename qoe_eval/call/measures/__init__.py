"""From the raw logs of a call to its measures, and whether the machine disturbed it."""
