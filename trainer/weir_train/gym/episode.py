"""An episode: scenario, seed and objective, drawn from their sources."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weir_cli.errors import InputError
from weir_eval.runs.inputs import PathOptions, checked_controllers, read_inputs
from weir_sim.objectives import MINIMUM_WEIGHT, checked_objective
from weir_traces.formats import ImportedTrace
from weir_traces.formats.convert import to_scenario
from weir_traces.generate.random_domain import random_scenario
from weir_traces.schema.scenario import Scenario, WholeDocument
from weir_train.gym.specification import MAXIMUM_RANDOM_LOSS_WEIGHT, ObjectiveSource, ScenarioSource


@dataclass(frozen=True)
class Episode:
    """Everything the simulator needs to reproduce an episode byte for byte."""

    scenario: Mapping[str, Any]
    seed: int
    objective: tuple[float, float, float]


def scenario_document(scenario: Any) -> Mapping[str, Any]:
    """Returns the whole JSON document of a `Scenario`, or of a mapping, which may omit defaults."""
    if isinstance(scenario, WholeDocument):
        return scenario
    if isinstance(scenario, Mapping):
        scenario = Scenario.from_dict(scenario)
    if isinstance(scenario, Scenario):
        return checked_controllers("scenario", scenario).to_dict()
    raise InputError(
        "a scenario is a path, catalogue/NAME, a mapping, a weir_traces Scenario or what read_trace returns, not a "
        f"{type(scenario).__name__}"
    )


def read_source(source: ScenarioSource) -> ScenarioSource:
    """Replaces names of files and of the catalogue in a source by their scenarios, as `weir replay` reads them; a name
    of several scenarios becomes a sequence.

    Raises:
        InputError: there is no such file or name, or it is no trace.
    """
    if isinstance(source, ImportedTrace):
        return checked_controllers(source.source, to_scenario(source)).to_dict()
    if isinstance(source, str | os.PathLike):
        found = [scenario.to_dict() for scenario in read_inputs([os.fspath(source)], PathOptions())]
        return found if len(found) > 1 else found[0]
    if not isinstance(source, Sequence):
        return source
    read = map(read_source, source)
    return [one for found in read for one in (found if isinstance(found, list) else [found])]


def random_objective(generator: np.random.Generator) -> tuple[float, float, float]:
    """Draws loss log-uniformly from 0.05 to 0.6, and splits the rest uniformly between throughput and latency, none
    below 0.05.

    Drawn uniformly over the simplex, objectives like the presets, whose weight of loss is 0.1, would be rare.
    """
    loss = float(np.exp(generator.uniform(np.log(MINIMUM_WEIGHT), np.log(MAXIMUM_RANDOM_LOSS_WEIGHT))))
    throughput = float(generator.uniform(MINIMUM_WEIGHT, 1.0 - loss - MINIMUM_WEIGHT))
    return (throughput, 1.0 - loss - throughput, loss)


class EpisodeSource:
    """Draws episodes.

    Args:
        scenario: one scenario, as the path of a trace or scenario file, `catalogue/NAME`, the result of
            `weir_traces.formats.importers.read_trace`, a mapping or a `Scenario`; a sequence, from which each episode
            draws one, or the name of a group (`catalogue`, `catalogue/rfc8867`); or a function from a seed to a
            scenario. A trace has the defaults of `weir replay`. None:
            `weir_traces.generate.random_domain.random_scenario`.
        objective: weights or a preset; "random" (`random_objective`); or a function of a generator.

    Raises:
        InputError: a name has no trace, a list is empty, or the objective is unknown.
    """

    def __init__(self, scenario: ScenarioSource | None = None, objective: ObjectiveSource = "balanced") -> None:
        if scenario is None:
            scenario = random_scenario
        if isinstance(scenario, Sequence) and not scenario:
            raise InputError("scenarios: the list is empty")
        # Reads files once.
        self._scenario = read_source(scenario)
        self._objective = objective
        if objective != "random" and not callable(objective):
            checked_objective(objective)

    def draw(self, generator: np.random.Generator, options: Mapping[str, Any] | None = None) -> Episode:
        """Draws the next episode. `options` may fix "scenario" (any source) and "objective".

        The same generator state and options give the same episode.
        """
        options = options or {}
        unknown = set(options) - {"scenario", "objective"}
        if unknown:
            raise InputError(f"reset options {', '.join(sorted(unknown))}: only scenario and objective are known")
        seed = int(generator.integers(2**31))
        scenario = self._pick(read_source(options["scenario"]) if "scenario" in options else self._scenario, generator)
        source = options.get("objective", self._objective)
        source = random_objective if isinstance(source, str) and source == "random" else source
        objective = checked_objective(source(generator) if callable(source) else source)
        return Episode(scenario=scenario, seed=seed, objective=objective)

    @staticmethod
    def _pick(source: Any, generator: np.random.Generator) -> Mapping[str, Any]:
        if callable(source):
            source = read_source(source(int(generator.integers(2**31))))
        if isinstance(source, Sequence):
            source = source[int(generator.integers(len(source)))]
        return scenario_document(source)
