"""The part of a summary that compares objectives of one model."""

from __future__ import annotations

from weir_eval.records.comparisons import PairedRow
from weir_eval.records.part import Part


class Steering(Part):
    """How presets steer a model; shares of `scenarios`, 0 to 1, None without scenarios.

    Attributes:
        right: share in which both measures move in the right direction in both steps.
        moved: share that is right and in which a measure differs between the outer presets by more than its tolerance.
        by_step: shares by measure, for each step ("throughput-balanced") and for both together ("throughput-latency").
        wrong: names of the scenarios that are not right.
    """

    scenarios: int
    right: float | None
    moved: float | None
    by_step: dict[str, dict[str, float]]
    wrong: list[str]


class ObjectiveMeans(Part):
    """Means over the runs of one objective, or of a controller that has none.

    Attributes:
        throughput: weight in the objective, like `latency` and `loss`; None for a controller without objective.
        utility: utility of the same runs with the weights of each preset, by preset.
        non_dominated: True if no other objective of the fan has at least the utilization and at most the delay.
    """

    throughput: float | None = None
    latency: float | None = None
    loss: float | None = None
    utilisation: float | None
    p95_queueing_delay_ms: float | None
    loss_ratio: float | None
    challenge: float | None
    utility: dict[str, float | None] | None = None
    non_dominated: bool = False

    def measure(self, name: str) -> float | None:
        """One of the means by the name of its measure."""
        value: float | None = getattr(self, name)
        return value


class ObjectivesSummary(Part):
    """One model under many objectives, over the scenarios that every objective has completed.

    Attributes:
        presets: means by preset.
        preset_differences: differences between presets.
        fan: means of objectives spread over the simplex of weights.
        references: means of controllers without an objective, over the same scenarios and seed.
        preset_scenarios: measures by scenario and preset.
    """

    seed: int
    scenarios: list[str]
    presets: dict[str, ObjectiveMeans]
    preset_differences: list[PairedRow]
    fan: list[ObjectiveMeans]
    references: dict[str, ObjectiveMeans]
    steering: Steering
    preset_scenarios: dict[str, dict[str, dict[str, float | None]]]
