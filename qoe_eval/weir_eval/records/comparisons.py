"""Rows of a summary: measures of one controller, paired comparisons, families of scenarios, causes of freezes."""

from __future__ import annotations

from weir_eval.records.part import Interval, Part
from weir_eval.records.record import EpisodeKind


class Spread(Part):
    """Mean and tails of one measure over the `n` runs of one controller, on `independent` scenarios.

    `worst` is the minimum or maximum, depending on which is better; `ci95` is the 95 % interval of the mean,
    (None, None) for too few scenarios.
    """

    mean: float
    p5: float
    p95: float
    worst: float
    ci95: Interval
    n: int
    independent: int


class PairedComparison(Part):
    """`mean` of a - b over scenarios, its 95 % interval, and the numbers of the `independent` scenarios on which the
    mean of a is strictly better or worse. `n`: pairs of runs; `agreeing`: those whose difference has the sign of
    `mean`; `opposing`: those of the opposite sign; `median`: the median difference of runs. These are None in summaries
    of earlier versions. `ci95` is (None, None) for too few scenarios.
    """

    mean: float
    ci95: Interval
    wins: int
    losses: int
    n: int
    independent: int
    agreeing: int | None = None
    opposing: int | None = None
    median: float | None = None


class PairedRow(PairedComparison):
    """The comparison of `a` with `b`, controllers or presets, by one measure."""

    a: str
    b: str
    metric: str

    @classmethod
    def of(cls, a: str, b: str, metric: str, found: PairedComparison) -> PairedRow:
        """The row of a comparison."""
        return cls(a=a, b=b, metric=metric, **dict(found))


class WorstScenario(Part):
    """The name of a scenario, and on it the score difference to the better of libwebrtc's, or a ratio to gcc."""

    scenario: str
    value: float


class FamilyRow(Part):
    """The results of one family of scenarios; a comparison without any pair of runs is None.

    Attributes:
        media: the media of its calls, video or filler.
        description: the impairment of the family.
        scenarios: number of scenarios completed with any controller.
        scores: mean challenge score over scenarios, by controller.
        better: the one of libwebrtc's controllers at the sender with the higher score.
        against_better: weir minus `better`, challenge score.
        against_rule: weir minus the rule, challenge score.
        worst_score: the scenario with the lowest score relative to the better of libwebrtc's controllers on it.
        worst_utilisation: the scenario with the lowest utilization as a ratio of gcc's.
    """

    name: str
    media: str
    description: str
    scenarios: int
    scores: dict[str, float]
    better: str | None
    against_better: PairedComparison | None
    against_rule: PairedComparison | None
    worst_score: WorstScenario | None
    worst_utilisation: WorstScenario | None


class CauseRow(Part):
    """The episodes of one kind of a controller, as means over its `runs` with series or logs: their number and seconds,
    and by cause the number with this main cause and the seconds of its shares.
    """

    controller: str
    kind: EpisodeKind
    runs: int
    episodes: float
    seconds: float
    episodes_by_cause: dict[str, float]
    seconds_by_cause: dict[str, float]
