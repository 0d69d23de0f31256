"""Reports: pages that need no network, tables for other tools, and the parts that all reports share."""
