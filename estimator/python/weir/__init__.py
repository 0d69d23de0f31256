"""Weir: a bandwidth estimator for WebRTC, at the receiver or the sender, with a learned, multi-objective policy.

This package is the Python interface of the C++ library and needs only NumPy. Replays, calls, training and the command
`weir` are distributions of their own.
"""

from pathlib import Path

from weir import _core
from weir._core import (
    CONTROLLERS,
    DECISION_INTERVALS_MS,
    FEATURES,
    GUARD_RULES,
    MAXIMUM_HISTORY,
    MIN_PLAYOUT_DELAY_US,
    OBJECTIVE_PRESETS,
    RULE,
    BandwidthEstimator,
    Controller,
    Estimate,
    LayerAllocation,
    LayerAllocator,
    MediaStream,
    Model,
    Policy,
    Pool,
    Repair,
    SendSideEstimator,
    __version__,
    max_playout_delay_us,
    onnxruntime_version,
    parse_pool,
    parse_remb,
    rule_rate_bps,
    write_remb,
    write_remote_estimate,
)

__all__ = [
    "CONTROLLERS",
    "DECISION_INTERVALS_MS",
    "FEATURES",
    "GUARD_RULES",
    "MAXIMUM_HISTORY",
    "MIN_PLAYOUT_DELAY_US",
    "OBJECTIVE_PRESETS",
    "RULE",
    "BandwidthEstimator",
    "Controller",
    "Estimate",
    "LayerAllocation",
    "LayerAllocator",
    "MediaStream",
    "Model",
    "Policy",
    "Pool",
    "Repair",
    "SendSideEstimator",
    "__version__",
    "max_playout_delay_us",
    "onnxruntime_version",
    "parse_pool",
    "parse_remb",
    "rule_rate_bps",
    "shipped_model_path",
    "write_remb",
    "write_remote_estimate",
]


def shipped_model_path() -> Path:
    """Returns the path of the shipped model's ONNX file, which the build installs beside the compiled module."""
    return Path(_core.__file__).with_name("weir.onnx")
