"""The networks of MOCC's Table 3, to train in and to test in: one flow alone that always has data.

| | bandwidth, Mbps | one-way delay, ms | queue, packets | loss |
|---|---|---|---|---|
| training | 1 to 5 | 10 to 50 | up to 3000 | 0 to 3 % |
| testing | 10 to 50 | 10 to 200 | 500 to 5000 | 0 to 10 % |

Uniform, but for the queue in training, whose logarithm is, from one packet on: most uniform ones would never fill.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np

from weir_papers.common import save_scenarios
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.generate.drawing import log_uniform
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.links import Queue
from weir_traces.schema.media import with_media
from weir_traces.schema.scenario import Scenario

Split = Literal["training", "testing"]
_STREAMS = {"training": 0, "testing": 1}


def mocc_network(split: Split, seed: int, duration_s: float) -> Scenario:
    """A network of the split; the same arguments give the same one."""
    rng = np.random.default_rng([2022, 3, _STREAMS[split], seed])
    if split == "training":
        rate_bps, delay_ms = rng.uniform(1e6, 5e6), rng.uniform(10, 50)
        packets, loss_ratio = log_uniform(rng, 1, 3000), rng.uniform(0, 0.03)
    else:
        rate_bps, delay_ms = rng.uniform(10e6, 50e6), rng.uniform(10, 200)
        packets, loss_ratio = rng.uniform(500, 5000), rng.uniform(0, 0.1)
    scenario = scenario_from_capacity(
        CapacityTrace.constant(round(rate_bps)),
        f"mocc-{split}-{seed}",
        one_way_delay_ms=round(delay_ms, 2),
        queue=Queue(packets=round(packets)),
        loss_ratio=round(loss_ratio, 4),
        duration_s=duration_s,
        provenance={"source": "MOCC, Table 3", "licence": "BSD-3-Clause"},
    )
    return with_media(scenario, "filler")


def write_networks(folder: Path, split: Split, seeds: Iterable[int], duration_s: float) -> list[Path]:
    """Networks of a split as files in the folder."""
    return save_scenarios((mocc_network(split, seed, duration_s) for seed in seeds), folder)
