"""The emulated link between two network namespaces, for calls and for `weir link`."""
