"""Traces of capacity in every known format: read, checked, converted, written."""
