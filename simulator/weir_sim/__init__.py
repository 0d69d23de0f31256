"""The programs of Weir and the clusters that run them, for the bench and for training."""
