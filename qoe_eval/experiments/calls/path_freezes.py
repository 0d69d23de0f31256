"""How long a path by itself freezes a video: what to hold the freezes of calls against."""

from __future__ import annotations

import numpy as np

from weir.qoe_eval.call.media.source_video import FRAMES_PER_SECOND
from weir.qoe_eval.measures.viewer import find_freezes
from weir.traces.schema.scenario import Scenario


def path_freezes_s(scenario: Scenario) -> float:
    """Seconds of freezes of a video whose every frame arrives in no time whenever the path carries anything.

    No strict bound: at a lower frame rate a longer pause is no freeze yet.
    """
    capacity = scenario.forward.capacity
    if capacity is None:
        return 0.0
    times_s = np.arange(round(scenario.duration_s * FRAMES_PER_SECOND)) / FRAMES_PER_SECOND
    rendered_s = times_s[capacity.trace().rate_at(times_s) > 0]
    freezes = find_freezes([round(time * 1e6) for time in rendered_s], round(scenario.duration_s * 1e6))
    return sum(freeze.duration_us for freeze in freezes) / 1e6
