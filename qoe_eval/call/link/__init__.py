"""The emulated link between two network namespaces: for a call, and for `weir link`."""
