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
    FUSIONS,
    GUARD_RULES,
    INTERVAL_STATISTICS_FIELDS,
    OBJECTIVE_PRESETS,
    ONNXRUNTIME_VERSION,
    PILOT_POLICIES,
    REGISTERED_CONTROLLERS,
    RULE,
    BandwidthEstimator,
    Estimate,
    Feature,
    Model,
    Policy,
    RegisteredController,
    SendSideEstimator,
    __version__,
    apply_action,
    describe_model,
    field_trials,
    parse_pool,
    parse_remb,
    write_remb,
)

__all__ = [
    "CONTROLLERS",
    "FEATURES",
    "FUSIONS",
    "GUARD_RULES",
    "INTERVAL_STATISTICS_FIELDS",
    "OBJECTIVE_PRESETS",
    "ONNXRUNTIME_VERSION",
    "PILOT_POLICIES",
    "REGISTERED_CONTROLLERS",
    "RULE",
    "BandwidthEstimator",
    "Estimate",
    "Feature",
    "Model",
    "Policy",
    "RegisteredController",
    "SendSideEstimator",
    "__version__",
    "apply_action",
    "describe_model",
    "field_trials",
    "parse_pool",
    "parse_remb",
    "write_remb",
]
