"""Types of the dictionaries that the library's objects return."""

from __future__ import annotations

from typing import Literal, TypedDict


class ModelDescription(TypedDict):
    """The contract of an ONNX policy. Rates are in bit/s."""

    format: Literal["weir/1", "mmsys2024"]
    name: str
    version: str
    # Empty if it has none.
    provenance: str
    # Names in `FEATURES`, for each of `history` intervals.
    features: list[str]
    history: int
    interval_ms: float
    # As in `apply_action`.
    action_kind: str
    # For relative actions; None for others.
    action_alpha: float | None
    # For discrete actions; empty for others.
    action_multipliers: list[float]
    min_bps: int
    max_bps: int
    observation_size: int
    action_size: int
    # 0 without a recurrent state.
    state_size: int
    takes_objective: bool


class MemberState(TypedDict):
    """One controller of a pool."""

    name: str
    # None before its first decision.
    rate_bps: int | None
    # 0 to 1.
    trust: float
    # True while the fallback decides instead.
    suspended: bool
    decisions: int
    faults: int


class Member(MemberState):
    """A controller of a pool with its role."""

    # A copilot's target is fused.
    role: Literal["pilot", "copilot", "watching", "suspended"]


class PoolView(TypedDict):
    """Argument of a pool's `policy`, after a decision of the pilot."""

    now_us: int
    target_rate_bps: int
    # Weights of throughput, latency and loss.
    objective: tuple[float, float, float]
    # Keys are names in `FEATURES`.
    statistics: dict[str, float]
    members: list[MemberState]
    pilot: str


class PoolSpecification(TypedDict):
    """A parsed specification of a pool."""

    # In its shortest form.
    line: str
    pilot: str
    copilots: list[str]
    fusion: str
    policy: str


class Statistics(TypedDict):
    """Statistics for a host's getStats."""

    # The rate in force: W3C's availableIncomingBitrate.
    target_rate_bps: int
    reason: str
    # During the last second.
    receive_rate_bps: int
    # Mean; 0 if no packet had a send time.
    queueing_delay_us: int
    loss_ratio: float
    # Since creation.
    packets_received: int
    bytes_received: int
    # A late packet subtracts one, so it can decrease, even below 0.
    packets_lost: int
    # Sum over packets_with_delay.
    total_queueing_delay_us: int
    packets_with_delay: int
    # Jumps of a sender's clock, or of the caller's clock back by more than 3 s.
    clock_restarts: int


class ProbeCluster(TypedDict):
    """A burst that a sender sends."""

    id: int
    target_data_rate_bps: int
    target_duration_us: int
    target_probe_count: int


class Remb(TypedDict):
    """An RTCP REMB."""

    sender_ssrc: int
    rate_bps: int
    ssrcs: list[int]
