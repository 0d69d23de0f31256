"""Weir: a receiver-side bandwidth estimator for WebRTC with a learned, multi-objective policy.

This package is the C++ library's Python face; `weir.traces`, `weir.trainer` and `weir.qoe_eval` build on it.
"""

import ctypes as _ctypes
from importlib.util import find_spec as _find_spec
from pathlib import Path as _Path


def _load_onnxruntime() -> None:
    """Loads the library of the Python package onnxruntime, so that `weir._core` and the package share one. Does nothing
    where the package is missing: everything except models works without it.
    """
    package = _find_spec("onnxruntime")
    for folder in (package and package.submodule_search_locations) or ():
        for library in _Path(folder, "capi").glob("libonnxruntime.so.1*"):
            _ctypes.CDLL(str(library))


_load_onnxruntime()

from weir._core import (  # noqa: E402 - finds the library that has just been loaded
    CONTROLLERS,
    FEATURES,
    OBJECTIVE_PRESETS,
    ONNXRUNTIME_VERSION,
    BandwidthEstimator,
    Controller,
    Estimate,
    Model,
    Policy,
    Pool,
    SendSideEstimator,
    __version__,
    parse_remb,
    write_remb,
)

__all__ = [
    "CONTROLLERS",
    "FEATURES",
    "OBJECTIVE_PRESETS",
    "ONNXRUNTIME_VERSION",
    "BandwidthEstimator",
    "Controller",
    "Estimate",
    "Model",
    "Policy",
    "Pool",
    "SendSideEstimator",
    "__version__",
    "parse_remb",
    "write_remb",
]
