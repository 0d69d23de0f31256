"""The patches for libwebrtc, and the check that they fit a source tree."""
