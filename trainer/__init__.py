"""Learns the policy: the environment, training, curricula, adaptation, export."""
