"""Families of network impairments: scenarios in which not only the capacity changes."""
