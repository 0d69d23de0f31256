"""`weir replay`: what is run, in which processes, and the folder that it leaves."""
