"""Logs of connections on which Weir runs beside another estimator, and the report of a folder of them."""
