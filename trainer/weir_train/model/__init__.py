"""Model files: graph, export from a checkpoint, reading, and model card."""
