"""The parts of a link in a scenario: capacity, queue, loss, jitter (format ``weir.scenario/1``)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from weir.errors import InputError
from weir.traces.schema.capacity import CapacityTrace
from weir.traces.schema.part import Flag, NotNegative, Part, Positive, PositiveInt, PositiveTime, Rate, Ratio
from weir.traces.schema.values_over_time import DelayOverTime, LossRatio, OneWayDelay

FULL_PACKET_BYTES = 1500
"""At least one IP packet of this size fits into every queue."""


class Capacity(Part):
    """Piecewise constant capacity: ``rates_bps[i]`` (bit/s) holds from ``times_s[i]`` on (s, the first 0).

    ``period_s`` null: the last rate holds for ever; else the trace repeats with that period, in seconds.
    """

    times_s: list[NotNegative] = Field(min_length=1)
    rates_bps: list[Rate] = Field(min_length=1)
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
        """The form of a trace that a scenario holds."""
        return cls(times_s=trace.times_s.tolist(), rates_bps=trace.rates_bps.tolist(), period_s=trace.period_s)

    def trace(self) -> CapacityTrace:
        """The capacity as a value that can be integrated and averaged."""
        return CapacityTrace(np.array(self.times_s), np.array(self.rates_bps), self.period_s)


class Queue(Part):
    """The limit of a link's queue: exactly one of its three fields.

    ``milliseconds`` is drain time at the mean capacity (over one period, or over the scenario when there is none).
    """

    milliseconds: Positive | None = None
    bytes: PositiveInt | None = None
    packets: PositiveInt | None = None

    @model_validator(mode="after")
    def _one_unit(self) -> Queue:
        if len(self.model_fields_set) != 1 or self.model_dump(exclude_none=True) == {}:
            raise ValueError('give exactly one of "milliseconds", "bytes" and "packets"')
        return self

    def limit_bytes(self, mean_capacity_bps: float) -> int:
        """The limit in bytes of IP packets (full packets of 1500 bytes where it counts packets)."""
        if self.bytes is not None:
            limit = self.bytes
        elif self.packets is not None:
            limit = self.packets * FULL_PACKET_BYTES
        else:
            assert self.milliseconds is not None
            limit = int(mean_capacity_bps * self.milliseconds / 8000)
        return max(limit, FULL_PACKET_BYTES)


class NoLoss(Part):
    """Nothing is lost but what a queue drops."""

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


Loss = Annotated[NoLoss | BernoulliLoss | GilbertElliottLoss, Field(discriminator="kind")]


class NoJitter(Part):
    """No delay beyond queueing, serialisation and propagation."""

    kind: Literal["none"] = "none"


class TruncatedGaussianJitter(Part):
    """Delay after the bottleneck: absolute value of a Gaussian, cut at ``maximum_ms``."""

    kind: Literal["truncated_gaussian"]
    standard_deviation_ms: NotNegative
    maximum_ms: NotNegative
    reorder: Flag = False


Jitter = Annotated[NoJitter | TruncatedGaussianJitter, Field(discriminator="kind")]


class Link(Part):
    """One direction of the path. ``capacity`` null: no serialisation delay and no queue.

    ``one_way_delay_ms`` may change over time; packets under way keep their order.
    """

    capacity: Capacity | None
    one_way_delay_ms: OneWayDelay = 25.0
    queue: Queue = Queue(milliseconds=300.0)
    queue_discipline: Literal["drop_tail", "codel"] = "drop_tail"
    loss: Loss = NoLoss()
    jitter: Jitter = NoJitter()

    def mean_one_way_delay_ms(self, duration_s: float) -> float:
        """The delay over the time from 0 to ``duration_s``, without what waiting adds; the mean where it changes."""
        delay = self.one_way_delay_ms
        return delay.mean(duration_s) if isinstance(delay, DelayOverTime) else delay

    def mean_capacity_bps(self, duration_s: float) -> float | None:
        """Mean capacity, bit/s, of one period (of ``duration_s`` without a period); None when unlimited."""
        return None if self.capacity is None else self.capacity.trace().mean_bps(duration_s)

    def queue_bytes(self, duration_s: float) -> int | None:
        """The queue's limit in bytes; None when the capacity is unlimited."""
        mean = self.mean_capacity_bps(duration_s)
        return None if mean is None else self.queue.limit_bytes(mean)
