"""The scenario format `weir.scenario/1`, and what a seed draws of a scenario."""
