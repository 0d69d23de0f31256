"""RTC event logs of libwebrtc and recorded packets, for `weir report` and `weir whatif`."""
