"""The registry of the measures of a call; those that a replay has too are taken from its table."""

from __future__ import annotations

from dataclasses import replace

from weir.qoe_eval.measures.metric_table import METRICS, Metric, MetricTable

_ALL = (
    Metric(
        "received_bitrate_bps",
        "Received bitrate",
        "kbps",
        "higher",
        "getStats of the receiver: bytesReceived of audio and video (payload, no headers, no padding) per second.",
        1e-3,
        0,
    ),
    *(METRICS[n] for n in ("frames_per_second", "frozen_share", "freeze_count", "total_freezes_duration_s")),
    Metric(
        "end_to_end_delay_ms_p50",
        "End-to-end delay, median",
        "ms",
        "lower",
        "From capture in the sender to rendering in the receiver, over rendered frames; one machine, one clock.",
        1,
        0,
    ),
    Metric("end_to_end_delay_ms_p95", "End-to-end delay, p95", "ms", "lower", "Its 95th percentile.", 1, 0),
    Metric(
        "vmaf_mean",
        "VMAF",
        "of 100",
        "higher",
        "Mean over rendered frames, each against the source's frame of its number (model vmaf_v0.6.1, at the source's "
        "size). Frames that never came are freezes, not VMAF.",
        1,
        1,
    ),
    Metric("vmaf_p5", "VMAF, p5", "of 100", "higher", "5th percentile over rendered frames.", 1, 1),
    Metric(
        "network_delay_ms_p95",
        "Network delay, p95",
        "ms",
        "lower",
        "95th percentile of one-way packet delay over the link, from device to device.",
        1,
        0,
    ),
    METRICS["p95_queueing_delay_ms"],
    METRICS["loss_ratio"],
    replace(
        METRICS["utilisation"],
        meaning="Bytes of the call that the link delivered / what its capacity, less its cross traffic, could have "
        "carried.",
    ),
    replace(
        METRICS["receive_rate_bps"],
        meaning="IP bytes of the call that the link delivered per second: with headers, padding, audio and repairs.",
    ),
    Metric("frame_height_mean", "Height of frames", "px", "higher", "Mean over rendered frames, as received.", 1, 0),
    Metric("qp_mean", "QP", "", "lower", "getStats of the receiver: qpSum / framesDecoded; scales differ by codec."),
    Metric(
        "time_to_first_frame_ms",
        "First frame",
        "ms",
        "lower",
        "From the start of the scenario, with the call connected, to the first rendered frame.",
        1,
        0,
    ),
    Metric("stats_freeze_count", "Freezes by getStats", "", "lower", "The receiver's own freezeCount.", 1, 1),
    Metric(
        "stats_total_freezes_duration_s",
        "Freezes by getStats, together",
        "s",
        "lower",
        "The receiver's own totalFreezesDuration.",
        1,
        2,
    ),
)

CALL_METRICS = MetricTable(_ALL)
