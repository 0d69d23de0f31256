"""Synthetic scenarios: generators, the random domain, RFC 8867, calls of published experiments."""
