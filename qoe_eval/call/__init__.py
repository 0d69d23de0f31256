"""Real calls, `weir call`: which calls are made, and with what settings."""
