"""`weir bench`: how fast this machine simulates, steps the environment and decides."""
