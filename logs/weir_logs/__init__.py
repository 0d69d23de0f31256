"""Dumps of browsers, RTC event logs and captures: why video froze, and what another controller would have sent."""
