"""Families of network impairments: scenarios in which more than the capacity changes."""
