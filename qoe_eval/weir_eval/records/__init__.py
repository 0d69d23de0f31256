"""Typed records of runs and calls, and their summary. All reading and writing of records is in this package."""
