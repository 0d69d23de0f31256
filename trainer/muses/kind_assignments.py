"""Which kind of path each interval of a flow is of, in all the ways that `path_kinds` compares.

Kinds are integers (flows, intervals) from 1 on, 0 where none is known. Flows 2i and 2i + 1 are on one path.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.linear_model import LogisticRegression

from weir.traces.generate.random_domain import drawn_as, random_scenario
from weir.trainer.muses.decomposition import Decomposition
from weir.trainer.muses.extraction import windows
from weir.trainer.muses.flows import Flows
from weir.trainer.muses.selector import Selector


def by_selector(selector: Selector, flows: Flows) -> np.ndarray:
    """As a call would choose."""
    return selector.kinds_of(_states(selector, flows))


def first_choice(kinds: np.ndarray) -> np.ndarray:
    """Of each flow its first kind, from when it was chosen."""
    made = kinds > 0
    first = np.take_along_axis(kinds, made.argmax(axis=1)[:, None], axis=1)
    return np.where(made, first, 0)


def own_kind(decomposition: Decomposition, selector: Selector, flows: Flows) -> np.ndarray:
    """The kind of the window that an interval is in, which holds what is still to come, under `balanced`."""
    kinds = _nearest(decomposition, selector, flows)[:, 0]
    count, intervals = flows.actions.shape
    found = np.zeros((count, intervals), int)
    whole = intervals // selector.samples * selector.samples
    by_path = np.repeat(kinds.reshape(count // 2, -1), selector.samples, axis=1)
    found[:, :whole] = np.repeat(by_path, 2, axis=0)
    return found


def at_random(count: int, flows: Flows, generator: np.random.Generator) -> np.ndarray:
    """Paths dealt out evenly to that many kinds."""
    return _of_paths(generator.permutation(len(flows.paths) // 2) % count + 1, flows)


def dynamics(flows: Flows) -> tuple[np.ndarray, list[str]]:
    """What the random domain drew for the capacity (`weir.traces.generate.random_domain`), and the names of these."""
    drawn = [_dynamics(path) for path in flows.paths[::2]]
    names = sorted(set(drawn))
    return _of_paths(np.array([names.index(name) + 1 for name in drawn]), flows), names


def logistic(decomposition: Decomposition, selector: Selector, flows: Flows) -> Selector:
    """The selector with logistic regression from state histograms to the nearest centre in place of least squares."""
    histograms = selector.axes.histograms(windows(_states(selector, flows)[::2], selector.samples))
    found = LogisticRegression(max_iter=1000).fit(histograms, _nearest(decomposition, selector, flows)[:, 0])
    lines = np.column_stack([found.coef_, found.intercept_])
    if len(lines) == 1:
        # Of two classes scikit-learn keeps one line.
        lines = np.vstack([-lines, lines])
    scores = np.zeros((selector.kinds, lines.shape[1]), np.float32)
    # A kind of which no window was seen is never chosen.
    scores[:, -1] = -np.inf
    scores[found.classes_ - 1] = lines
    return replace(selector, weight=scores[:, :-1].T, bias=scores[:, -1])


def among_two_nearest(decomposition: Decomposition, selector: Selector, flows: Flows) -> float:
    """Share of windows under `balanced` whose chosen kind has one of the two centres that are nearest to them."""
    histograms = selector.axes.histograms(windows(_states(selector, flows)[::2], selector.samples))
    two = _nearest(decomposition, selector, flows)[:, :2]
    return float((two == selector.choose(histograms)[:, None]).any(axis=1).mean())


def _nearest(decomposition: Decomposition, selector: Selector, flows: Flows) -> np.ndarray:
    """The kinds of windows under `balanced`, nearest centre first: (windows, K)."""
    states = windows(_states(selector, flows)[::2], selector.samples)
    return decomposition.nearest(decomposition.joint(states, windows(flows.actions[::2], selector.samples))) + 1


def _states(selector: Selector, flows: Flows) -> np.ndarray:
    return flows.inputs[..., : len(selector.axes.weight)]


def _of_paths(kinds: np.ndarray, flows: Flows) -> np.ndarray:
    return np.repeat(np.repeat(kinds, 2)[:, None], flows.actions.shape[1], axis=1)


def _dynamics(path: str) -> str:
    found = drawn_as(path)
    assert found is not None
    split, seed = found
    return random_scenario(seed, split=split).description.split(",")[0]
