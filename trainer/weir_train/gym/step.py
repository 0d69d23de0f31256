"""The step record: the simulator's report of one interval besides the observation."""

from __future__ import annotations

import numpy as np

# In the order of the simulator's `step_fields`, for the interval just run unless noted.
STEP_FIELDS: tuple[str, ...] = (
    "time_s",  # at the end of the interval
    "capacity_bps",  # mean of the bottleneck
    "achievable_bps",  # of the media, at most what it may send; may wait 100 ms (simulator/endpoints/achievable.h)
    "fair_share_bps",  # of achievable_bps, if competing TCP and RTP flows each get an equal share of the capacity
    "send_rate_bps",  # IP bytes
    "receive_rate_bps",  # IP bytes
    "one_way_delay_mean_ms",  # of arrivals; held when nothing arrived
    "one_way_delay_p95_ms",
    "base_one_way_delay_ms",
    "queueing_delay_ms",  # of the bottleneck at the end
    "loss_ratio",  # of the packets whose fate was decided in the interval
    "packets_received",
    "target_bps",  # in force at the end
    "future_capacity_bps",  # mean of the next interval: for oracles and critics only
    "optimal_bps",  # REMB of an oracle now, under the objective (simulator/endpoints/oracle.h)
)

# Fields about rendered frames, only on the stack "libwebrtc" (simulator/flows/viewed_step.h).
VIEWED_FIELDS: tuple[str, ...] = (
    "frames_rendered",
    "frozen_share",  # of the interval, also without a picture; a freeze counts from its beginning, so it may exceed 1
    "video_bitrate_bps",  # of the encoder, for the displayed frames; 0 without a picture
    "end_to_end_delay_ms",  # from capture to rendering, mean; held when nothing was rendered
    "qp",  # of the encoder, mean; held when nothing was rendered; -1: unknown
)

# The true state of the path, for a critic during training; a policy never observes it.
PRIVILEGED_FIELDS: tuple[str, ...] = (
    "fair_share_bps",
    "future_capacity_bps",
    "base_one_way_delay_ms",
    "queueing_delay_ms",
    "loss_ratio",
)

_INDEX = {name: index for index, name in enumerate(STEP_FIELDS + VIEWED_FIELDS)}
PRIVILEGED_COLUMNS = np.array([_INDEX[name] for name in PRIVILEGED_FIELDS])


class StepRecord:
    """Step records as columns: `record.capacity_bps` is an array of the batch's shape (a scalar for a single record).

    Args:
        values: float64 of shape (..., columns), STEP_FIELDS and, if there are more, VIEWED_FIELDS; the record's columns
            are views of it.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        # Cache of `weir_train.gym.rewards.mocc_objectives`.
        self.mocc_measures: np.ndarray | None = None

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            column = self.values[..., _INDEX[name]]
        except KeyError:
            raise AttributeError(f"a step record has no {name}") from None
        except IndexError:
            raise AttributeError(f"a step record has no {name} where nothing is rendered") from None
        setattr(self, name, column)  # for the next access
        return column

    @classmethod
    def of(cls, **columns: float | np.ndarray) -> StepRecord:
        """Makes a record from named columns; other fields are 0."""
        arrays = np.broadcast_arrays(*columns.values())
        values = np.zeros((*arrays[0].shape, len(_INDEX)))
        for name, array in zip(columns, arrays, strict=True):
            values[..., _INDEX[name]] = array
        return cls(values)
