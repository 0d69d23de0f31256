"""Weir: a receiver-side bandwidth estimator for WebRTC with a learned, multi-objective policy.

This package is the C++ library's Python face and needs NumPy alone. `weir.traces`, `weir.qoe_eval`, `weir.trainer.gym`
and the command `weir` need the extra `bench`, calls the extra `call`, training the extra `train`.
"""

from weir._core import (
    CONTROLLERS,
    FEATURES,
    FUSIONS,
    GUARD_RULES,
    INTERVAL_STATISTICS_FIELDS,
    OBJECTIVE_PRESETS,
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
    onnxruntime_version,
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
    "onnxruntime_version",
    "parse_pool",
    "parse_remb",
    "write_remb",
]
