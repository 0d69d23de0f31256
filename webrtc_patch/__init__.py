"""Patch series for libwebrtc, and the check that one fits a source tree."""
