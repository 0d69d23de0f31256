"""`weir experiment calls`: real calls against the goals set for them."""
