"""The programs of Weir and the clusters that run them, for replays, calls and training."""
