"""The key `curriculum` and the tables `trace_values` and `adaptive_gap` of a training configuration."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat, PositiveFloat

from weir.trainer.configuration.settings import Settings

CurriculumName = Literal["random", "reward", "gap", "adaptive_gap"]


class TraceValues(Settings):
    """What is known of a trace beforehand: the mean `reward` and the `score` of a model trained on it alone (ReCoCo,
    section VI-C), and the score of the `baseline` there.
    """

    reward: FiniteFloat | None = None
    score: FiniteFloat | None = None
    baseline: FiniteFloat | None = None


class AdaptiveGapSettings(Settings):
    """The table `adaptive_gap`.

    `floor`: the share of draws that is spread evenly over all traces. `smoothing`: the weight of the newest episode in
    the estimate of the policy's gap on a trace.
    """

    baseline: Literal["gcc", "rule"] = "gcc"
    floor: float = Field(0.3, gt=0.0, le=1.0)
    smoothing: float = Field(0.3, gt=0.0, le=1.0)
    timeout_s: PositiveFloat = 600.0
