"""Video and speech: what is sent, what of it was received, and VMAF and ViSQOL between the two."""
