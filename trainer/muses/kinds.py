"""What a mixture says about its kinds of path, for its provenance and for people."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np

from weir.trainer.muses.extraction import Extraction, windows
from weir.trainer.muses.mixture import Mixture
from weir.trainer.muses.students import Student

_EXAMPLES: Final = 4
_TOLD: Final = 5


def describe_kinds(extraction: Extraction) -> list[dict[str, Any]]:
    """Of each student, from 0 on: `kind`, `splits`, `asks` (the inputs most splits are about, with their share of all
    its splits); of a kind of path also `share` of windows of held-out flows under `balanced`, `differs` (the
    inputs whose mean differs most from that of all, in standard deviations of windows' means) and `examples`, names of
    held-out paths that were of this kind most of the time.
    """
    mixture, flows = extraction.mixture, extraction.held_out
    found = [{"kind": kind} | _asks(mixture, student) for kind, student in enumerate(mixture.students)]
    if mixture.selector is None:
        return found
    samples, size = mixture.selector.samples, mixture.inputs.state_size
    states = windows(flows.inputs[::2, :, :size], samples)
    chosen = mixture.selector.choose(mixture.selector.axes.histograms(states))
    means = states.mean(axis=1)
    spread = np.maximum(means.std(axis=0), 1e-9)
    by_flow = chosen.reshape(len(flows.paths[::2]), -1)
    for kind, entry in enumerate(found[1:], start=1):
        of_kind = chosen == kind
        entry["share"] = float(of_kind.mean())
        if not of_kind.any():
            continue
        differences = (means[of_kind].mean(axis=0) - means.mean(axis=0)) / spread
        largest = np.argsort(-np.abs(differences))[:_TOLD]
        entry["differs"] = {mixture.inputs.names[index]: round(float(differences[index]), 2) for index in largest}
        often = (by_flow == kind).mean(axis=1)
        order = np.argsort(-often, kind="stable")[:_EXAMPLES]
        entry["examples"] = [flows.paths[::2][index] for index in order if often[index] > 0]
    return found


def _asks(mixture: Mixture, student: Student) -> dict[str, Any]:
    names = mixture.inputs.names
    asked = Counter(names[feature] for tree in student.trees for feature in tree.feature[tree.feature >= 0])
    shares = {name: round(count / student.splits, 3) for name, count in asked.most_common(_TOLD)}
    return {"splits": student.splits, "asks": shares}
