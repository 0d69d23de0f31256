"""`weir experiment policy`: a model against the goals set for it."""
