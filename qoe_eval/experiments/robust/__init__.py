"""`weir experiment robust`: a model on ordinary network life."""
