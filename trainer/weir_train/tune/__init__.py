"""The search of `weir tune`: Optuna's trials, each a training that is judged on held-out scenarios."""
