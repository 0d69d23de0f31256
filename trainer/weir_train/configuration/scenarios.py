"""The scenarios of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, PositiveFloat, model_validator

from weir_cli.errors import InputError
from weir_eval.runs.inputs import checked_controllers, read_input
from weir_traces.formats.convert import to_scenario
from weir_traces.generate.random_domain import Split, is_ordinary, random_scenario
from weir_traces.generate.random_trace import random_trace
from weir_traces.schema.scenario import Scenario
from weir_traces.schema.time_window import time_window
from weir_train.configuration import Settings

_DRAWS = 1000
HELD_OUT_SHARE = 0.2
MOST_HELD_OUT = 16


class ScenarioSettings(Settings):
    """The table `scenarios` of a training configuration.

    The random paths are those of the `train` split of `weir_traces.generate.random_domain`; its `held_out` split is for
    evaluation and never trained on. Random traces are those of `weir_traces.generate.random_trace`.
    """

    source: Literal["random_domain", "random_traces", "files"] = "random_domain"
    """Random paths; random traces, of the same dynamics on the path of a replayed trace; or `files`."""
    files: tuple[Path, ...] = ()
    """Scenarios, `"catalogue/NAME"`, or traces of any format that [`traces/`](../traces/README.md) reads, with the
    video of a call, 25 ms one way and a queue of 300 ms; repairable faults are repaired. An episode is a whole trace.
    `--eval` holds out a fifth of them.
    """
    traces: int = Field(36, ge=1, le=10_000)
    """Number of random traces. An episode is a whole trace."""
    ordinary: bool = False
    """`true` excludes random paths at the edges of the domain, such as delays above 200 ms."""
    maximum_mean_bps: PositiveFloat = 1e9
    """The highest mean capacity of random paths, in bit/s."""
    minimum_duration_s: PositiveFloat = 20.0
    """The shortest episode on random paths, in seconds."""
    maximum_duration_s: PositiveFloat = 60.0
    """The longest episode on random paths, in seconds."""

    @model_validator(mode="after")
    def _consistent(self) -> ScenarioSettings:
        if (self.source == "files") != bool(self.files):
            raise ValueError('files: give a list of files exactly when source is "files"')
        if self.minimum_duration_s > self.maximum_duration_s:
            raise ValueError("minimum_duration_s must not be above maximum_duration_s")
        return self


class ScenarioSampler:
    """Maps a seed to a scenario document for `EpisodeSource`; may be pickled.

    Args:
        settings: what to draw from.
        split: the part of the random domain.

    Attributes:
        documents: the scenarios of the files or random traces; empty for the random domain.
        repairs: the findings in files that were repaired.
        probabilities: of each document, float64 of shape (documents,), sum 1; None: seeds select documents in turn.

    Raises:
        InputError: a file cannot be read, is no trace, has a fault without a repair, or names an unknown controller.
    """

    def __init__(self, settings: ScenarioSettings, split: Split = "train") -> None:
        self.settings = settings
        self.split: Split = split
        traces = [(str(path), trace) for path in settings.files for trace in read_input(str(path), repair=True)]
        self.repairs = [finding for _, trace in traces for finding in trace.findings if finding.repair]
        found = [checked_controllers(name, to_scenario(trace)) for name, trace in traces]
        if settings.source == "random_traces":
            found = [random_trace(seed) for seed in range(settings.traces)]
        self._set_documents(found)
        self.probabilities: np.ndarray | None = None

    def hold_out(self) -> list[dict[str, Any]]:
        """Removes the scenarios that judge a training from those that it draws, and returns them.

        Of several files, a fifth, 1 to `MOST_HELD_OUT` of them, spread evenly over the list; of a single one, the last
        fifth of its time. For random traces, `MOST_HELD_OUT` others. For the random domain, nothing: its `held_out`
        split has them.
        """
        if self.settings.source == "random_traces":
            first = self.settings.traces
            return [random_trace(seed).to_dict() for seed in range(first, first + MOST_HELD_OUT)]
        if len(self._scenarios) == 1:
            (whole,) = self._scenarios
            cut_s = round((1.0 - HELD_OUT_SHARE) * whole.duration_s, 3)
            self._set_documents([time_window(whole, 0.0, cut_s)])
            last = time_window(whole, cut_s, whole.duration_s)
            return [last.model_copy(update={"name": f"the last fifth of {whole.name}"}).to_dict()]
        count = min(MOST_HELD_OUT, max(1, round(HELD_OUT_SHARE * len(self._scenarios))))
        held_out = {(2 * number + 1) * len(self._scenarios) // (2 * count) for number in range(count)}
        found = [scenario.to_dict() for index, scenario in enumerate(self._scenarios) if index in held_out]
        self._set_documents([scenario for index, scenario in enumerate(self._scenarios) if index not in held_out])
        return found

    def _set_documents(self, scenarios: list[Scenario]) -> None:
        self._scenarios = scenarios
        self.documents: list[dict[str, Any]] = [scenario.to_dict() for scenario in scenarios]

    def index_of(self, document: Any) -> int:
        """The index of one of `documents`."""
        return self.documents.index(document)

    def __call__(self, seed: int) -> dict[str, Any]:
        """Returns the scenario of a seed; traces keep their own durations."""
        if self.documents and self.probabilities is not None:
            index = np.random.default_rng(seed).choice(len(self.documents), p=self.probabilities)
            return self.documents[int(index)]
        if self.documents:
            return self.documents[seed % len(self.documents)]
        # Durations differ, so that the environments of a batch are at different stages of their episodes.
        share = np.random.default_rng(seed).random()
        shortest_s, longest_s = self.settings.minimum_duration_s, self.settings.maximum_duration_s
        duration_s = round(shortest_s + share * (longest_s - shortest_s), 1)
        for attempt in range(_DRAWS):
            scenario = random_scenario(seed + attempt, split=self.split, duration_s=duration_s)
            mean_bps = scenario.forward.mean_capacity_bps(scenario.duration_s)
            if mean_bps is None or mean_bps > self.settings.maximum_mean_bps:
                continue
            if not self.settings.ordinary or is_ordinary(scenario):
                return scenario.to_dict()
        raise InputError(
            f"scenarios: {_DRAWS} draws from the random domain gave none with a mean capacity of at most "
            f"{self.settings.maximum_mean_bps:g} bps"
        )
