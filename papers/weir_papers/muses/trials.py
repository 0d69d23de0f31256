"""Muses' repetition, seed by seed: a teacher, its trees, and what each does on the networks of Table II and III."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.metrics import f1_score

from weir_papers.common import Case, mean_case
from weir_papers.kept import kept
from weir_papers.muses.decision_trees import (
    MOST_KINDS,
    SAMPLES,
    OneTree,
    Students,
    TreesByKind,
    among_two_nearest,
    extract,
)
from weir_papers.muses.muses_measures import PACKET_BYTES, weighted_p95
from weir_papers.muses.networks import LARGEST_DELAYS_MS, TEST_DURATION_S
from weir_papers.muses.senders import INTERVAL_MS, Agent, Flows, Levels, Oracle, run_flows
from weir_papers.muses.sets import CROSS_TRAFFIC, FLUCTUATING, TABLE_III
from weir_papers.muses.teaching import SENDERS, Teaching, table_ii_flows, teach
from weir_traces.schema.scenario import Scenario
from weir_train.gym.step import StepRecord

ORACLE, TEACHER, TREES, ONE_TREE = "oracle", "teacher", "trees", "one-tree"
# As many kinds of path as the paper has, whatever their silhouette.
PAPERS_KINDS: Final = "trees-of-15-kinds"
# Networks of the stages, beyond those of the teaching.
_EXTRACTED_FROM, _TESTED_FROM = 100_000, 0
_INTERVAL_S: Final = INTERVAL_MS / 1e3


@dataclass(frozen=True)
class Size:
    """The size of a trial.

    Attributes:
        teaching: of the teacher.
        flows: under the teacher, from which trees are extracted.
        rounds: in each, trees run half as many flows, and learn how the teacher would have decided.
        kinds: numbers of kinds of path to try.
        tested: flows of each model and range of delays for Figure 1b.
    """

    teaching: Teaching
    flows: int
    rounds: int
    kinds: tuple[int, ...]
    tested: int


def trial(
    seed: int,
    size: Size,
    scenarios: Mapping[str, Sequence[Scenario]],
    folder: Path,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[str, int], None] = lambda stage, decisions: None,
) -> dict[str, Any]:
    """The result of a seed, which is kept in the folder beside the teacher. `scenarios` are the sets of
    `weir_papers.muses.sets`; a set without scenarios is not measured. `on_progress` gets the decisions of the teaching.

    Raises:
        InputError: the folder has a result of another size.
        ComponentFailed: a simulator failed.
    """
    networks = {name: len(some) for name, some in scenarios.items()}
    return kept(
        folder / f"muses-{seed}.json",
        asdict(size) | {"networks": networks},
        lambda: _measured(seed, size, scenarios, folder, simulator, on_progress),
    )


def _measured(
    seed: int,
    size: Size,
    scenarios: Mapping[str, Sequence[Scenario]],
    folder: Path,
    simulator: str | os.PathLike[str] | None,
    on_progress: Callable[[str, int], None],
) -> dict[str, Any]:
    teacher, history = teach(
        size.teaching, folder / f"teacher-{seed}.zip", seed, simulator=simulator,
        on_progress=lambda done: on_progress("teacher", done),
    )  # fmt: skip
    on_progress("trees", 0)
    students, flows = _students(teacher, size, seed, simulator)
    of_papers_kinds = extract(flows, (MOST_KINDS,), seed)
    agents: dict[str, Agent] = {
        ORACLE: Oracle(),
        TEACHER: teacher,
        TREES: TreesByKind(students),
        ONE_TREE: OneTree(students.trees[0]),
        PAPERS_KINDS: TreesByKind(of_papers_kinds),
    }

    def f1_by_delay(agent: Agent) -> dict[str, float]:
        return {
            f"{delay_ms:g}": f1_of(
                table_ii_flows(
                    agent, size.tested, seed=seed, first=_TESTED_FROM, split="held_out", largest_delay_ms=delay_ms,
                    simulator=simulator,
                )
            )
            for delay_ms in LARGEST_DELAYS_MS
        }  # fmt: skip

    on_progress("tests", 0)
    result: dict[str, Any] = {
        "seed": seed,
        "gradient_steps": size.teaching.gradient_steps,
        "history": history,
        "silhouettes": {str(kinds): score for kinds, score in students.silhouettes.items()},
        "kinds": students.choice.kinds,
        "leaves": [int(tree.get_n_leaves()) for tree in students.trees],
        "nearest": among_two_nearest(of_papers_kinds, flows),
        "f1": {name: f1_by_delay(agents[name]) for name in (TEACHER, TREES, ONE_TREE, PAPERS_KINDS)},
    }
    return result | _tests(agents, scenarios, seed, simulator)


def f1_of(flows: Flows) -> float:
    """The mean F1 of the actions, each against the rest, of an agent's actions as predictions of the labels, from the
    first choice of a kind of path on. Before it, the paper has the tree of the flow before.
    """
    labels, actions = (levels[:, SAMPLES - 1 :].ravel() for levels in (flows.labels, flows.actions))
    return float(f1_score(labels, actions, average="macro", zero_division=0.0))


def case_of_flow(record: StepRecord, until_s: float) -> Case:
    """A flow, shape (intervals,), up to a time. The percentile of delay is over intervals, each with the 95th of its
    packets and weighted by their number.
    """
    inside = record.time_s <= until_s
    length_s = np.diff(record.time_s, prepend=record.time_s[0] - _INTERVAL_S)[inside]
    received = record.packets_received[inside]
    base_ms = record.base_one_way_delay_ms[inside]
    means_ms = np.maximum(record.one_way_delay_mean_ms[inside] - base_ms, 0.0)
    delays_ms = np.maximum(record.one_way_delay_p95_ms[inside] - base_ms, means_ms)
    loss = np.minimum(record.loss_ratio[inside], 1 - 1e-3)
    lost = np.sum(received * loss / (1 - loss))
    return Case(
        float(record.receive_rate_bps[inside] @ length_s / max(record.capacity_bps[inside] @ length_s, 1.0)),
        weighted_p95(delays_ms, received) or 0.0,
        float(lost / max(received.sum() + lost, 1.0)),
        float(np.average(means_ms, weights=np.maximum(received, 1e-9))),
    )


class _Labelled:
    """An agent that decides while the teacher labels each of its states, (N,)."""

    def __init__(self, agent: Agent, teacher: Agent) -> None:
        self._agent, self._teacher = agent, teacher
        self.labels: list[Levels] = []

    def begin(self) -> None:
        """See `Agent`."""
        self._agent.begin()
        self._teacher.begin()
        self.labels = []

    def __call__(self, states: np.ndarray, labels: Levels) -> Levels:
        """See `Agent`."""
        self.labels.append(self._teacher(states, labels))
        return self._agent(states, labels)


def _students(
    teacher: Agent, size: Size, seed: int, simulator: str | os.PathLike[str] | None
) -> tuple[Students, Flows]:
    """The trees of the teacher, after all rounds, and the flows that they are extracted from."""
    first, parts = _EXTRACTED_FROM, list[Flows]()
    students: Students | None = None
    for number in range(size.rounds + 1):
        # Whole batches, on networks of their own.
        for _ in range(-(-(size.flows if number == 0 else size.flows // 2) // SENDERS)):
            driver = teacher if students is None else _Labelled(TreesByKind(students), teacher)
            found = table_ii_flows(driver, SENDERS, seed=seed, first=first, simulator=simulator)
            if isinstance(driver, _Labelled):
                found = replace(found, actions=np.stack(driver.labels, axis=1).astype(np.int8))
            parts.append(found)
            first += SENDERS
        students = extract(Flows.joined(parts), size.kinds, seed)
    assert students is not None
    return students, Flows.joined(parts)


def _tests(
    agents: Mapping[str, Agent], scenarios: Mapping[str, Sequence[Scenario]], seed: int,
    simulator: str | os.PathLike[str] | None,
) -> dict[str, Any]:  # fmt: skip
    """By agent: `networks`, the mean case of each set of Table III; `in_flight`, the error on fluctuating Wi-Fi; and
    `cross`, the rate beside cross traffic, bps.
    """
    decisions = round(TEST_DURATION_S / _INTERVAL_S)
    networks: dict[str, dict[str, Any]] = {name: {} for name in TABLE_III}
    in_flight, cross = {}, {}
    for name, agent in agents.items():
        for set_name in TABLE_III:
            if not scenarios[set_name]:
                continue
            documents = [scenario.to_dict() for scenario in scenarios[set_name]]
            flows = run_flows(agent, documents, decisions, seed=seed, simulator=simulator)
            records = [StepRecord(values) for values in flows.record.values]
            networks[set_name][name] = asdict(mean_case([case_of_flow(record, TEST_DURATION_S) for record in records]))
            if set_name == FLUCTUATING:
                in_flight[name] = in_flight_error(records)
        (scenario,) = scenarios[CROSS_TRAFFIC]
        decisions_beside = round(scenario.duration_s / _INTERVAL_S)
        record = run_flows(agent, [scenario.to_dict()], decisions_beside, seed=seed, simulator=simulator).record
        cross[name] = _mean_rate_bps(StepRecord(record.values[0]), scenario.duration_s)
    return {"networks": networks, "in_flight": in_flight, "cross": cross}


def in_flight_error(records: Sequence[StepRecord]) -> float:
    """Root mean square of what is in flight less the link's bandwidth-delay product, packets of PACKET_BYTES, over the
    intervals in which something arrives (Figure 4); see `weir_papers.muses.muses_measures.in_flight`.
    """
    errors = []
    for record in records:
        arrived = record.packets_received > 0
        base_ms, delay_ms = record.base_one_way_delay_ms, record.one_way_delay_mean_ms
        held = record.receive_rate_bps * (delay_ms + base_ms) - record.capacity_bps * 2 * base_ms
        errors.append(held[arrived] / (8e3 * PACKET_BYTES))
    return float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))


def _mean_rate_bps(record: StepRecord, until_s: float) -> float:
    inside = record.time_s <= until_s
    length_s = np.diff(record.time_s, prepend=record.time_s[0] - _INTERVAL_S)[inside]
    return float(record.receive_rate_bps[inside] @ length_s / length_s.sum())
