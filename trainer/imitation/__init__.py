"""A recurrent policy learns from a teacher what it should have done where it went (dataset aggregation)."""
