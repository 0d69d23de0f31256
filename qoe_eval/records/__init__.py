"""Records of runs and calls, and the summary of many of them: typed, written and read here alone."""
