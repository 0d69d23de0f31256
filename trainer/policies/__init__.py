"""The networks: features made into inputs, actors and critics, on-policy and off-policy."""
