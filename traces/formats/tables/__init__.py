"""Tables of rates over time: text to rows, columns and units, the side on which a rate holds, a trace."""
