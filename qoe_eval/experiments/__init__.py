"""`weir experiment`: measurements against goals, one package each."""
