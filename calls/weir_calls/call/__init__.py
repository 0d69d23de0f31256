"""Real calls, `weir call`: plans, endpoints, logs and measures."""
