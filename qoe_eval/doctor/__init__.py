"""`weir doctor`: the components on this machine, and how to get those it lacks."""
