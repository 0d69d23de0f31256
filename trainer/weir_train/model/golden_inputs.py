"""Inputs of golden vectors: synthetic observations whose outputs are in the model file."""

from __future__ import annotations

from typing import Final

import numpy as np

from weir_cli.errors import InputError
from weir_sim.controllers import PRESETS
from weir_train.gym.specification import EnvironmentSpecification

GOLDEN_VECTORS: Final = 6


def golden_inputs(specification: EnvironmentSpecification) -> tuple[np.ndarray, np.ndarray]:
    """Returns observations (GOLDEN_VECTORS, D) and objectives (GOLDEN_VECTORS, 3), float32, the same at every call:
    idle, queueing, and lossy paths, and one without packets.

    Raises:
        InputError: a feature of the specification has no value here.
    """
    generator = np.random.default_rng(20240401)
    shape = (GOLDEN_VECTORS, specification.history)
    rate = 10 ** generator.uniform(5.0, 7.3, (GOLDEN_VECTORS, 1)) * generator.uniform(0.7, 1.2, shape)
    queue = generator.choice([0.001, 0.02, 0.2], (GOLDEN_VECTORS, 1)) * generator.uniform(0.5, 1.5, shape)
    loss = generator.choice([0.0, 0.0, 0.05], (GOLDEN_VECTORS, 1)) * generator.uniform(0.5, 1.5, shape)
    rate[-1, 0] = 0.0
    packets = np.ceil(rate * specification.interval_ms / 1000.0 / 9600.0)
    silence = np.where(packets > 0, 0.005, specification.interval_ms / 1000.0)
    known = {
        "interval_s": np.full(shape, specification.interval_ms / 1000.0),
        "receive_rate_bps": rate,
        "packets_received": packets,
        "bytes_received": rate * specification.interval_ms / 8000.0,
        "packets_lost": np.round(loss * packets),
        "loss_ratio": loss,
        "queueing_delay_mean_s": queue,
        "queueing_delay_min_s": 0.5 * queue,
        "queueing_delay_max_s": 2.0 * queue,
        "queueing_delay_p95_s": 1.8 * queue,
        "delay_gradient": generator.normal(0.0, 0.05, shape),
        "base_round_trip_time_s": np.full(shape, 0.05),
        "delay_ratio": 1.0 + queue / 0.05,
        "sending_ratio": 1.0 / (1.0 - loss),
        "time_since_last_packet_s": silence,
        "interarrival_time_mean_s": 1.0 / np.maximum(packets, 1.0) / 10.0,
        "jitter_s": 0.1 * queue,
        "video_share": np.ones(shape),
        "audio_share": np.zeros(shape),
        "probe_share": np.zeros(shape),
        "retransmission_share": np.zeros(shape),
        "application_limited": np.zeros(shape),
        "delay_noise_s": 0.2 * queue,
        "loss_at_short_queue_10s": 0.5 * loss,
        "loss_ratio_slow_10s": 0.8 * loss,
        "loss_ratio_fast_10s": 1.2 * loss,
        "receive_rate_max_10s_bps": 1.5 * rate,
        "receive_rate_min_10s_bps": 0.5 * rate,
        "queueing_delay_min_10s_s": 0.2 * queue,
        "queueing_delay_max_10s_s": 4.0 * queue,
        "last_estimate_bps": rate.max(axis=1, keepdims=True) * generator.uniform(0.8, 1.2, shape),
    }
    missing = [name for name in specification.features if name not in known]
    if missing:
        raise InputError(f"golden inputs: no value for {', '.join(missing)}. Known are {', '.join(known)}")
    records = np.stack([known[name] for name in specification.interval_features], axis=2)
    newest = [known[name][:, 0] for name in specification.path_features]
    presets = np.array(list(PRESETS.values()))
    objectives = presets[np.arange(GOLDEN_VECTORS) % len(presets)]
    observations = np.column_stack([records.reshape(GOLDEN_VECTORS, -1), *newest])
    return observations.astype(np.float32), objectives.astype(np.float32)


def golden_states(size: int) -> np.ndarray:
    """Returns initial states, (GOLDEN_VECTORS, size), float32 in [-1, 1], the same at every call; the first is that of
    the start of a call, zeros.
    """
    states = np.random.default_rng(20261121).uniform(-1.0, 1.0, (GOLDEN_VECTORS, size))
    states[0] = 0.0
    return states.astype(np.float32)
