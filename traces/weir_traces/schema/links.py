"""The parts of a link in a scenario: capacity, queue, loss, jitter (format ``weir.scenario/1``)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_serializer, model_validator

from weir_cli.errors import InputError
from weir_traces.schema import Flag, NotNegative, Part, Positive, PositiveInt, PositiveTime, Rate, Ratio, Values
from weir_traces.schema.capacity import MAX_RATE_BPS, CapacityTrace
from weir_traces.schema.values_over_time import DelayOverTime, LossRatio, OneWayDelay

FULL_PACKET_BYTES = 1500
"""At least one IP packet of this size fits into every queue."""


class Capacity(Part):
    """Piecewise constant capacity: ``rates_bps[i]`` (bit/s) holds from ``times_s[i]`` on (s, the first 0).

    ``period_s`` null: the last rate holds forever; else the trace repeats with that period, in seconds.
    """

    times_s: Values[NotNegative] = Field(min_length=1)
    rates_bps: Values[Rate] = Field(min_length=1)
    period_s: PositiveTime | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Capacity:
        try:
            self.trace()
        except InputError as error:
            raise ValueError(str(error).removeprefix("capacity: ")) from None
        return self

    @classmethod
    def from_trace(cls, trace: CapacityTrace) -> Capacity:
        """Converts a trace to the form in a scenario."""
        return cls(times_s=trace.times_s.tolist(), rates_bps=trace.rates_bps.tolist(), period_s=trace.period_s)

    def trace(self) -> CapacityTrace:
        """Converts to a trace, which can be integrated and averaged."""
        return CapacityTrace(np.array(self.times_s), np.array(self.rates_bps), self.period_s)


class Queue(Part):
    """The limit of a link's queue: exactly one of its three fields.

    ``milliseconds`` is drain time at the mean capacity (over one period, or over the scenario if there is none).
    """

    milliseconds: Positive | None = None
    bytes: PositiveInt | None = None
    packets: PositiveInt | None = None

    @model_validator(mode="after")
    def _one_unit(self) -> Queue:
        if len(self.model_fields_set) != 1 or self.model_dump(exclude_none=True) == {}:
            raise ValueError('give exactly one of "milliseconds", "bytes" and "packets"')
        return self

    @model_serializer
    def _set_unit(self) -> dict[str, Any]:
        units = {"milliseconds": self.milliseconds, "bytes": self.bytes, "packets": self.packets}
        return {unit: limit for unit, limit in units.items() if limit is not None}

    def limit_bytes(self, mean_capacity_bps: float) -> int:
        """The limit in bytes of IP packets, at least 1500 (a limit in packets counts 1500 bytes each)."""
        if self.bytes is not None:
            limit = self.bytes
        elif self.packets is not None:
            limit = self.packets * FULL_PACKET_BYTES
        else:
            assert self.milliseconds is not None
            limit = int(mean_capacity_bps * self.milliseconds / 8000)
        return max(limit, FULL_PACKET_BYTES)


class NoLoss(Part):
    """No loss other than queue drops."""

    kind: Literal["none"] = "none"


class BernoulliLoss(Part):
    """Every packet is lost with probability ``ratio``, independently; the ratio may change over time."""

    kind: Literal["bernoulli"]
    ratio: LossRatio


class GilbertElliottLoss(Part):
    """Two states, each with its own loss ratio; the transition probabilities are per packet."""

    kind: Literal["gilbert_elliott"]
    good_to_bad: Ratio
    bad_to_good: Ratio
    loss_good: Ratio
    loss_bad: Ratio


class PolicerLoss(Part):
    """A policer before the queue: drops packets above ``rate_bps`` once its bucket is empty, and never delays any.

    One token bucket (RFC 2697's committed information rate and committed burst size), initially full; both count
    IP packets. In the long run the link carries no more than ``rate_bps``, regardless of its capacity.
    """

    kind: Literal["policer"]
    rate_bps: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=1, le=MAX_RATE_BPS)]
    burst_bytes: Annotated[int, Field(strict=True, ge=FULL_PACKET_BYTES, le=1_000_000_000)]


Loss = Annotated[NoLoss | BernoulliLoss | GilbertElliottLoss | PolicerLoss, Field(discriminator="kind")]


IntervalMs = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.1, le=10_000)]


class NoJitter(Part):
    """No delay beyond queueing, serialization and propagation."""

    kind: Literal["none"] = "none"


class TruncatedGaussianJitter(Part):
    """Delay after the bottleneck: the absolute value of a Gaussian, at most ``maximum_ms``."""

    kind: Literal["truncated_gaussian"]
    standard_deviation_ms: NotNegative
    maximum_ms: NotNegative
    reorder: Flag = False


class UniformJitter(Part):
    """Delay after the bottleneck: uniform from 0 to ``maximum_ms``; packets keep their order.

    ``interval_ms`` null: drawn for each packet, which then mostly waits for an earlier one; else drawn once per
    interval, for all packets in it.
    """

    kind: Literal["uniform"]
    maximum_ms: NotNegative
    interval_ms: IntervalMs | None = None


class SlottedJitter(Part):
    """After the bottleneck, packets wait for the end of a slot, and leave together, in order.

    Models radio frames and Wi-Fi with a duty cycle: slots of ``interval_ms``, with a phase drawn by the run's seed.
    """

    kind: Literal["slotted"]
    interval_ms: IntervalMs


class SpikeJitter(Part):
    """After the bottleneck, packets are held at times, and then leave together, in order.

    Models a Wi-Fi client that scans other channels: spikes last ``shortest_ms`` to ``longest_ms`` (uniform), with a
    mean gap of ``gap_mean_s`` from the end of one to the next (exponential).
    """

    kind: Literal["spikes"]
    gap_mean_s: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.1, le=86_400)]
    shortest_ms: NotNegative
    longest_ms: NotNegative

    @model_validator(mode="after")
    def _ordered(self) -> SpikeJitter:
        if self.longest_ms < self.shortest_ms:
            raise ValueError("longest_ms must be at least shortest_ms")
        return self


Jitter = Annotated[
    NoJitter | TruncatedGaussianJitter | UniformJitter | SlottedJitter | SpikeJitter, Field(discriminator="kind")
]


QUEUE_DISCIPLINES = {"drop_tail": "", "codel": "CoDel", "dualpi2": "DualPI2"}
"""Display names; empty for drop-tail."""


class Link(Part):
    """One direction of the path. ``capacity`` null: no serialization delay and no queue.

    ``one_way_delay_ms`` may change over time; packets in flight keep their order.
    """

    capacity: Capacity | None
    one_way_delay_ms: OneWayDelay = 25.0
    queue: Queue = Queue(milliseconds=300.0)
    queue_discipline: Literal["drop_tail", "codel", "dualpi2"] = "drop_tail"
    loss: Loss = NoLoss()
    jitter: Jitter = NoJitter()

    def mean_one_way_delay_ms(self, duration_s: float) -> float:
        """The propagation delay; if it changes, its mean from 0 to ``duration_s``."""
        delay = self.one_way_delay_ms
        return delay.mean(duration_s) if isinstance(delay, DelayOverTime) else delay

    def mean_capacity_bps(self, duration_s: float) -> float | None:
        """Mean capacity, bit/s, of one period (of ``duration_s`` without a period); None if unlimited."""
        return None if self.capacity is None else self.capacity.trace().mean_bps(duration_s)

    def queue_bytes(self, duration_s: float) -> int | None:
        """The queue's limit in bytes; None if the capacity is unlimited."""
        mean = self.mean_capacity_bps(duration_s)
        return None if mean is None else self.queue.limit_bytes(mean)
