"""Networks: feature scaling, actors and critics, on-policy and off-policy."""
