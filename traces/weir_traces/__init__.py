"""Traces and scenarios: formats, validation, importers, generators, the bundled catalogue."""
