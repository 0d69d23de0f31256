"""`weir evaluate`: suites of goals for a model, measured in replays and real calls."""
