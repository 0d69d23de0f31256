"""Sets of scenarios for suites: traces, random scenarios, steady links, families, and scenarios of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weir.errors import InputError
from weir.qoe_eval.call.media.source_video import FRAMES_PER_SECOND
from weir.qoe_eval.call.settings import DEFAULT_MAX_BITRATE_BPS
from weir.qoe_eval.measures.viewer import find_freezes
from weir.traces.catalogue import load_bundled
from weir.traces.formats.convert import to_scenario
from weir.traces.formats.importers import read_trace
from weir.traces.formats.plain_trace import DEFAULT_ONE_WAY_DELAY_MS, DEFAULT_QUEUE, scenario_from_capacity
from weir.traces.generate.call_scenarios import muses_cross_traffic
from weir.traces.generate.families.families import FAMILIES, small_grid
from weir.traces.generate.families.family import VIDEO_SHARE_OF_LINK, Family
from weir.traces.generate.random_domain import random_scenario
from weir.traces.generate.rfc8867 import competing_media, round_trip_time_fairness
from weir.traces.schema.capacity import CapacityTrace
from weir.traces.schema.flows import CbrFlow
from weir.traces.schema.scenario import Scenario

if TYPE_CHECKING:
    from weir.qoe_eval.evaluate.suite import SetBuilder, Settings

TRACE_SETS = ("opennetlab", "mahimahi")
CALL_TRACES = ("ATT-LTE-driving.up", "TMobile-UMTS-driving.up", "Verizon-EVDO-driving.down")
# Far from the small numbers that anyone who develops a model against the held-out split begins with.
FIRST_RANDOM_SEED = 1_000_000
CALL_DURATION_S = 60.0
STEADY_MBPS = (0.3, 1.0, 2.5, 8.0, 30.0)
START_BPS = 5e6
HALVED_AT_S = 30.0
ROUTE_CHANGES = "-route-changes"
_DETOUR_MS = 40.0
_STEP_S = 0.01
# Calls are video only; libwebrtc's VP8 makes a key frame every 3000 frames. Fitted to calls of an unmodified Chromium:
# its output over its target was 1.0 in the median and 0.9 in the lower quartile, and followed the target with these
# time constants. It begins at its largest rate: x-google-start-bitrate holds until the first REMB.
_CHROMIUM_ENCODER = {
    "audio_rate_bps": 0.0, "key_frame_interval_s": 100.0, "minimum_output_share": 0.85,
    "rise_time_constant_s": 1.35, "fall_time_constant_s": 0.25,
}  # fmt: skip
FAMILY_CALL_BPS = 4e6
_FAMILY_CALL_S = 40.0
# Two cases of each family that a link can do to a browser. A link cannot set its clock, pause its media, choose its
# content, or make it begin below its own 300 kbps.
_CALLED_CASES = {
    "route": ("plus40", "plus100"),
    "loss": ("random2", "random5"),
    "jitter": ("gaussian20", "spikes3s"),
    "tcp": ("cubic-stays", "bbr-stays"),
    "policer": ("burst15kB", "burst100ms"),
    "slots": ("20of100ms", "frames20ms"),
    "reverse": ("plus500", "loss10"),
    "start": ("300k",),
    "everything": ("4", "7"),
}
_COMPARED_CASES = {"route": "plus40", "jitter": "gaussian20", "loss": "random5", "tcp": "cubic-stays"}


@dataclass(frozen=True)
class ScenarioSet:
    """Scenarios that are judged together; `missing` says why there are none."""

    name: str
    scenarios: Sequence[Scenario] = field(default_factory=list)
    missing: str = ""


def fixed(build: Callable[[], Sequence[Scenario]]) -> SetBuilder:
    """A set that depends on no setting."""
    return lambda settings: ScenarioSet("", build())


def joined(*builders: SetBuilder) -> SetBuilder:
    """Several sets as one."""

    def build(settings: Settings) -> ScenarioSet:
        sets = [builder(settings) for builder in builders]
        missing = "; ".join(one.missing for one in sets if one.missing)
        scenarios = [scenario for one in sets for scenario in one.scenarios]
        return ScenarioSet("", scenarios, "" if scenarios else missing)

    return build


def traces(name: str) -> SetBuilder:
    """Every trace of a folder, whole: 25 ms one way, queue of 300 ms of the mean capacity, faults repaired."""

    def build(settings: Settings) -> ScenarioSet:
        if settings.traces is None:
            return ScenarioSet(name, missing=f"needs the {name} traces: name their folder with --traces")
        folder = settings.traces / name
        files = sorted(path for path in folder.glob("*") if path.is_file() and not path.name.startswith("."))
        files = [path for path in files if path.suffix.lower() not in (".md", ".txt")]
        if not files:
            return ScenarioSet(name, missing=f"no traces in {settings.traces.name}/{name}")
        return ScenarioSet(name, [_trace_scenario(path, name) for path in files])

    return build


def check_traces(folder: Path | None) -> None:
    """Refuses a folder without any set of traces.

    Raises:
        InputError: it does not exist, or holds none of TRACE_SETS.
    """
    if folder is not None and not any((folder / name).is_dir() for name in TRACE_SETS):
        raise InputError(f"--traces {folder}: no folder {' or '.join(f'{name}/' for name in TRACE_SETS)} in it")


def random(first: int = 0, times: int = 1) -> SetBuilder:
    """Held-out random scenarios: the suite's number of them, `times` as many, without the first of `first` times."""

    def build(settings: Settings) -> ScenarioSet:
        count = settings.random or 0
        seeds = range(FIRST_RANDOM_SEED + first * count, FIRST_RANDOM_SEED + times * count)
        return ScenarioSet("", [random_scenario(seed, split="held_out") for seed in seeds])

    return build


def family(name: str) -> SetBuilder:
    """All scenarios of a family."""
    return fixed(lambda: FAMILIES[name]().scenarios())


def family_sample(name: str) -> SetBuilder:
    """Two scenarios of a family; all with `--full`."""
    return lambda settings: ScenarioSet(
        name, FAMILIES[name]().scenarios() if settings.full else small_grid()[name]
    )  # fmt: skip


def steady_links() -> list[Scenario]:
    """Links of constant capacity: 25 ms, 300 ms, 60 s."""
    return [scenario_from_capacity(CapacityTrace.constant(rate * 1e6), f"steady-{rate:g}M") for rate in STEADY_MBPS]


def start_link() -> list[Scenario]:
    """A link of START_BPS: 25 ms, 300 ms, 20 s."""
    return [scenario_from_capacity(CapacityTrace.constant(START_BPS), "start-5M", duration_s=20.0)]


def halved_link() -> list[Scenario]:
    """2.5 Mbps, from HALVED_AT_S on 1.25 Mbps: 25 ms, 300 ms, 60 s."""
    steps = CapacityTrace(np.array([0.0, HALVED_AT_S]), np.array([2.5e6, 1.25e6]))
    return [scenario_from_capacity(steps, "halved-2.5M")]


def sharing_with_route_changes() -> list[Scenario]:
    """RFC 8867 5.4 and 5.5 with a detour of 40 ms over the third quarter of their time."""
    return [_with_detour(case) for case in (competing_media(), round_trip_time_fairness())]


def muses_call() -> list[Scenario]:
    """Muses' cross traffic, 110 s, as a call."""
    return [with_video(muses_cross_traffic())]


def step_call() -> list[Scenario]:
    """The bundled `step-down-up` as a call."""
    return [with_video(load_bundled("step-down-up"))]


def mahimahi_calls(settings: Settings) -> ScenarioSet:
    """Three cellular traces, 60 s each, as calls.

    Raises:
        InputError: the folder of traces lacks one of them, or one cannot be used.
    """
    if settings.traces is None:
        return ScenarioSet("mahimahi", missing="needs the mahimahi traces: name their folder with --traces")
    scenarios = []
    for name in CALL_TRACES:
        path = settings.traces / "mahimahi" / name
        if not path.is_file():
            raise InputError(f"--traces {settings.traces}: no mahimahi/{name} in it")
        scenarios.append(with_video(_trace_scenario(path, "mahimahi", CALL_DURATION_S)))
    return ScenarioSet("mahimahi", scenarios)


def family_calls() -> list[Scenario]:
    """Two scenarios of each family that a link can do to a browser: video on 4 Mbps, at most 40 s."""
    return [
        family.scenario(case, FAMILY_CALL_BPS, "video")
        for name, cases in _CALLED_CASES.items()
        for family in (_shortened(FAMILIES[name]()),)
        for case in family.cases
        if case.name in cases
    ]


def compared_family_calls() -> list[Scenario]:
    """Those of `family_calls` on which Weir has to be no worse than Chromium's GCC."""
    names = {f"{family}-{case}-{FAMILY_CALL_BPS / 1e6:g}M-video" for family, case in _COMPARED_CASES.items()}
    return [one for one in family_calls() if one.name in names]


FAMILY_CALL_MAX_BITRATE_BPS = round(VIDEO_SHARE_OF_LINK * FAMILY_CALL_BPS / 1e3) * 1000


def as_called(builder: SetBuilder, **changes: float) -> SetBuilder:
    """The scenarios for replays whose simulated encoder is like Chromium's, but for the fields in `changes`."""

    def build(settings: Settings) -> ScenarioSet:
        found = builder(settings)
        return replace(found, scenarios=[with_chromium_encoder(one, **changes) for one in found.scenarios])

    return build


def with_feedback_loss(builder: SetBuilder, percent: int) -> SetBuilder:
    """The scenarios with that part of the packets on the return path lost at random; as they are for 0."""

    def build(settings: Settings) -> ScenarioSet:
        found = builder(settings)
        return replace(found, scenarios=[_losing_feedback(one, percent) for one in found.scenarios])

    return build


def with_video(scenario: Scenario, max_bitrate_bps: int = DEFAULT_MAX_BITRATE_BPS) -> Scenario:
    """The scenario with a video encoder of that largest bitrate in its first RTP flow."""
    return _with_media(scenario, lambda _: {"kind": "video", "max_rate_bps": float(max_bitrate_bps)})


def with_chromium_encoder(scenario: Scenario, **changes: float) -> Scenario:
    """The scenario with a simulated encoder like Chromium's, but for the fields of its media in `changes`."""
    return _with_media(
        scenario, lambda media: media | _CHROMIUM_ENCODER | {"initial_rate_bps": media["max_rate_bps"]} | changes
    )


def achievable_bps(scenario: Scenario, max_bitrate_bps: float) -> float:
    """Mean over the scenario of the forward capacity less its constant cross traffic, at most the encoder's bound.

    Headers are included: the payload of a video is some 4 % below.
    """
    middles_s = np.arange(_STEP_S / 2, scenario.duration_s, _STEP_S)
    capacity = scenario.forward.capacity
    free_bps = np.full(len(middles_s), np.inf) if capacity is None else capacity.trace().rate_at(middles_s)
    for flow in scenario.flows:
        if isinstance(flow, CbrFlow):
            stop_s = scenario.duration_s if flow.stop_s is None else flow.stop_s
            free_bps = free_bps - flow.rate_bps * ((flow.start_s <= middles_s) & (middles_s < stop_s))
    return float(np.clip(free_bps, 0.0, max_bitrate_bps).mean())


def unavoidable_freezes_s(scenario: Scenario) -> float:
    """Seconds of freezes of a video whose every frame arrives at once whenever the path carries anything.

    No strict bound: at a lower frame rate a longer pause is no freeze yet.
    """
    capacity = scenario.forward.capacity
    if capacity is None:
        return 0.0
    times_s = np.arange(round(scenario.duration_s * FRAMES_PER_SECOND)) / FRAMES_PER_SECOND
    rendered_s = times_s[capacity.trace().rate_at(times_s) > 0]
    freezes = find_freezes([round(time * 1e6) for time in rendered_s], round(scenario.duration_s * 1e6))
    return sum(freeze.duration_us for freeze in freezes) / 1e6


def _trace_scenario(path: Path, set_name: str, duration_s: float | None = None) -> Scenario:
    return to_scenario(
        read_trace(path, repair=True),
        name=f"{set_name}-{path.stem}",
        one_way_delay_ms=DEFAULT_ONE_WAY_DELAY_MS,
        queue=DEFAULT_QUEUE,
        duration_s=duration_s,
    )


def _with_detour(case: Scenario) -> Scenario:
    document = case.to_dict()
    times_s = [0.0, case.duration_s / 2, 3 * case.duration_s / 4]
    for side in ("forward", "reverse"):
        base_ms = document[side]["one_way_delay_ms"]
        values_ms = [base_ms, base_ms + _DETOUR_MS, base_ms]
        document[side]["one_way_delay_ms"] = {"times_s": times_s, "values_ms": values_ms}
    return Scenario.from_dict(document | {"name": f"{case.name}{ROUTE_CHANGES}"})


def _shortened(family: Family) -> Family:
    return replace(family, duration_s=min(family.duration_s, _FAMILY_CALL_S))


def _losing_feedback(scenario: Scenario, percent: int) -> Scenario:
    if not percent:
        return scenario
    data = scenario.to_dict()
    data["name"] = f"{scenario.name}-feedback-lost-{percent}"
    data["reverse"]["loss"] = {"kind": "bernoulli", "ratio": percent / 100}
    return Scenario.from_dict(data, data["name"])


def _with_media(scenario: Scenario, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> Scenario:
    data = scenario.to_dict()
    flow = next(flow for flow in data["flows"] if flow["kind"] == "rtp")
    flow["media"] = changed(flow["media"])
    return Scenario.from_dict(data, scenario.name)
