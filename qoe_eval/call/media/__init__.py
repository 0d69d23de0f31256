"""Pictures: the video that is sent, what of it was received, and VMAF between the two."""
