"""Finds the ONNX Runtime of this Python environment."""

import ctypes
from importlib.util import find_spec
from pathlib import Path


def load_onnxruntime() -> None:
    """Loads the library of the Python package onnxruntime, wherever Python finds that, so that `weir._core` and the
    package share one. Does nothing where the package is missing: all but models works without.
    """
    package = find_spec("onnxruntime")
    for folder in (package and package.submodule_search_locations) or ():
        for library in Path(folder, "capi").glob("libonnxruntime.so.1*"):
            ctypes.CDLL(str(library))
