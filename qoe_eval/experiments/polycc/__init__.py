"""`weir experiment polycc`: PolyCC's two demonstrations (SIGCOMM 2023, section 3) with TCP in ns-3."""
