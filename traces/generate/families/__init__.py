"""Ordinary network life in families of scenarios: what happens to a call besides that its capacity changes."""
