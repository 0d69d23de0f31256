"""MVFST-RL (NeurIPS 2019 workshop): decisions that never block a sender, on Pantheon's emulators."""
