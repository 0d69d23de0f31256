"""Experimental: learning from decisions that were recorded in real calls, without an environment."""
