"""Replays, real calls, measures, suites of goals, and reports."""
