"""The record of a call, and the report of calls."""
