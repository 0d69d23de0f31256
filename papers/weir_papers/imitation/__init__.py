"""Training by imitation, as Muses trains its teacher: the algorithm `imitation` of `weir train`."""
