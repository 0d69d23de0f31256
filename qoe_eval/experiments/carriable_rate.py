"""What a path leaves to a video: what to hold the bitrates of calls against."""

from __future__ import annotations

import numpy as np

from weir.traces.schema.flows import CbrFlow
from weir.traces.schema.scenario import Scenario

_STEP_S = 0.01


def carriable_bps(scenario: Scenario, max_bitrate_bps: float) -> float:
    """Mean over the scenario of the forward capacity less its constant cross traffic, at most the encoder's bound.

    Headers count as the path counts them: a video's own bits stay some 4 % below.
    """
    middles_s = np.arange(_STEP_S / 2, scenario.duration_s, _STEP_S)
    capacity = scenario.forward.capacity
    left_bps = np.full(len(middles_s), np.inf) if capacity is None else capacity.trace().rate_at(middles_s)
    for flow in scenario.flows:
        if isinstance(flow, CbrFlow):
            stop_s = scenario.duration_s if flow.stop_s is None else flow.stop_s
            left_bps = left_bps - flow.rate_bps * ((flow.start_s <= middles_s) & (middles_s < stop_s))
    return float(np.clip(left_bps, 0.0, max_bitrate_bps).mean())
