"""Computes measures from result records, and a summary from the measures of many runs."""
