"""Dumps of getStats() from a user's own browser: read, and made into a report."""
