"""Weir's own flows among themselves, RFC 8867 5.4 and 5.5, as the RFC has them and with a base delay that changes."""

from __future__ import annotations

from weir.traces.generate.rfc8867 import competing_media, round_trip_time_fairness
from weir.traces.schema.scenario import Scenario

SHARING = "sharing"
SHARING_CONTROLLERS = ("weir", "gcc")
WITH_ROUTE_CHANGES = "-route-changes"
_DETOUR_MS = 40.0


def sharing_scenarios() -> list[Scenario]:
    """Each case, and each with a detour of 40 ms over the third quarter of its time."""
    return [changed for case in (competing_media(), round_trip_time_fairness()) for changed in (case, _detour(case))]


def _detour(case: Scenario) -> Scenario:
    document = case.to_dict()
    times_s = [0.0, case.duration_s / 2, 3 * case.duration_s / 4]
    for side in ("forward", "reverse"):
        base_ms = document[side]["one_way_delay_ms"]
        values_ms = [base_ms, base_ms + _DETOUR_MS, base_ms]
        document[side]["one_way_delay_ms"] = {"times_s": times_s, "values_ms": values_ms}
    return Scenario.from_dict(document | {"name": f"{case.name}{WITH_ROUTE_CHANGES}"})
