"""Weir: a receiver-side bandwidth estimator for WebRTC with a learned, multi-objective policy.

This package is the C++ library's Python face; `weir.traces`, `weir.trainer` and `weir.qoe_eval` build on it.
"""

from weir._onnxruntime import load_onnxruntime

load_onnxruntime()

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
    "parse_pool",
    "parse_remb",
    "write_remb",
]
