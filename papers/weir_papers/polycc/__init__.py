"""PolyCC (SIGCOMM 2023): several congestion controls on one connection, with TCP in ns-3."""
