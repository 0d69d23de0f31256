"""Random capacity traces on the default path of trace replays, for training curricula to order.

The path has 25 ms one way and a queue of 300 ms, as in `weir replay TRACE`. Consecutive seeds cycle through the
dynamics of `random_domain`, with parameters drawn from its ranges, and through the media: video, then filler. The
nominal capacity is log-uniform, 200 kbps to 20 Mbps. No trace is in the catalogue or in either split of
`random_domain`, which use other random streams.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.generate.drawing import log_uniform
from weir_traces.generate.random_domain import DYNAMICS, random_capacity
from weir_traces.schema.media import with_media
from weir_traces.schema.scenario import Scenario

LOWEST_BPS: Final = 200e3
HIGHEST_BPS: Final = 20e6
_DURATION_S: Final = 60.0
# `random_domain` uses the streams 0 and 1.
_STREAM: Final = 2


def random_trace(seed: int) -> Scenario:
    """The scenario of a seed, 0 or greater."""
    rng = np.random.default_rng([_STREAM, seed])
    dynamics = tuple(DYNAMICS)[seed % len(DYNAMICS)]
    trace = random_capacity(rng, dynamics, _DURATION_S, log_uniform(rng, LOWEST_BPS, HIGHEST_BPS))
    scenario = scenario_from_capacity(
        trace,
        f"{dynamics}-{seed}",
        provenance={"source": f"weir_traces.generate.random_trace, seed {seed}", "licence": "BSD-3-Clause"},
    )
    return with_media(scenario, "video" if seed // len(DYNAMICS) % 2 == 0 else "filler")
