"""Children of a call that speak JSON lines, and at which priority they run."""
