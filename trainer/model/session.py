"""A model in ONNX Runtime, from Python."""

from __future__ import annotations

import onnxruntime


def make_session(model: bytes) -> onnxruntime.InferenceSession:
    """On one thread of the CPU."""
    onnxruntime.disable_telemetry_events()  # as the estimator does
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
