"""Classes that agents for OpenNetLab's gym import besides `Gym`."""
