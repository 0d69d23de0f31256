"""Video and speech of calls: sources, received media, and VMAF, ViSQOL and PLCMOS."""
