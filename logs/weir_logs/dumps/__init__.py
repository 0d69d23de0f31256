"""Reads dumps of getStats() from a user's browser, and reports on them."""
