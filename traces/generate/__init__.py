"""Scenarios that are made and not measured: generators, the random domain, RFC 8867, calls of published experiments."""
