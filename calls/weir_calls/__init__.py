"""Calls between browsers and native peers over emulated links: `weir call`, `weir link`, `weir serve`."""
