"""Measures, trace replay, real calls, reports, and the `weir` command."""
