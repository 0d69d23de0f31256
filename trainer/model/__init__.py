"""The model file: its graph, its export from a checkpoint, reading it, its card."""
