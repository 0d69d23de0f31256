"""Weir: a bandwidth estimator for WebRTC, at the receiver or the sender, with a learned, multi-objective policy.

This package is the Python interface of the C++ library and needs only NumPy. `weir.traces`, `weir.qoe_eval`,
`weir.trainer.gym` and the command `weir` need the extra `bench`, calls the extra `call`, training the extra `train`.
"""

from weir._core import (
    CONTROLLERS,
    FEATURES,
    OBJECTIVE_PRESETS,
    BandwidthEstimator,
    Controller,
    Estimate,
    LayerAllocation,
    LayerAllocator,
    MediaStream,
    Model,
    Policy,
    Pool,
    SendSideEstimator,
    __version__,
    onnxruntime_version,
    parse_remb,
    write_remb,
    write_remote_estimate,
)

__all__ = [
    "CONTROLLERS",
    "FEATURES",
    "OBJECTIVE_PRESETS",
    "BandwidthEstimator",
    "Controller",
    "Estimate",
    "LayerAllocation",
    "LayerAllocator",
    "MediaStream",
    "Model",
    "Policy",
    "Pool",
    "SendSideEstimator",
    "__version__",
    "onnxruntime_version",
    "parse_remb",
    "write_remb",
    "write_remote_estimate",
]
