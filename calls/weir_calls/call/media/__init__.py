"""Video and speech of calls: sources, received media, and VMAF and ViSQOL."""
