"""Reads tables of rates over time: rows, columns, units, the side on which a rate holds, and the trace."""
