"""One call from beginning to end: browser, weir-peer, signalling, and what may be asked while it lasts."""
