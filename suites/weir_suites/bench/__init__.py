"""`weir bench`: the speed of simulation, environment steps and decisions on this machine."""
