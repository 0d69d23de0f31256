"""The search of `weir tune`: trials, each a training that is judged on held-out scenarios, and their page."""
