"""`weir experiment calls`, without its command line: from a model to the table of goals of calls.

Scenarios, each 60 s but the first:

| set | scenarios |
|---|---|
| `muses` | `muses-cross-traffic`, 110 s |
| `mahimahi` | ATT-LTE-driving.up, TMobile-UMTS-driving.up, Verizon-EVDO-driving.down; 25 ms one way, queue of 300 ms |
| `sim-to-real` | all of these and `step-down-up`, with Weir; in `weir replay` with a video of the same bound |

Calls with Weir and with GCC are made by turns, so that both see the same machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weir.errors import InputError
from weir.qoe_eval.call.logs import LINK_LOG
from weir.qoe_eval.call.plan import CallPlan, CallSettings, plan_calls
from weir.qoe_eval.experiments.calls.estimator_cpu import estimator_cpu_share
from weir.qoe_eval.experiments.calls.goals import comparison_rows, cpu_row, link_rows, sim_to_real_rows
from weir.qoe_eval.experiments.calls.link_accuracy import link_accuracy, worst
from weir.qoe_eval.experiments.calls.path_freezes import path_freezes_s
from weir.qoe_eval.experiments.carriable_rate import carriable_bps
from weir.qoe_eval.records import Metrics, RunRecord
from weir.qoe_eval.report.goal_table import Row
from weir.traces.catalogue import load_bundled
from weir.traces.formats.convert import to_scenario
from weir.traces.formats.importers import read_trace
from weir.traces.formats.plain_trace import DEFAULT_ONE_WAY_DELAY_MS, DEFAULT_QUEUE
from weir.traces.generate.call_scenarios import muses_cross_traffic
from weir.traces.schema.scenario import Scenario

MAHIMAHI_TRACES = ("ATT-LTE-driving.up", "TMobile-UMTS-driving.up", "Verizon-EVDO-driving.down")
ALSO_REPLAYED = "step-down-up"
DURATION_S = 60.0
CPU_RATE_BPS = 5e6
# Calls are video only; libwebrtc's VP8 makes a key frame every 3000 frames; what Chromium sent, over its target, was
# 1.0 in the median and 0.9 in the lower quartile, and followed it with these time constants (`encoder_lag`). It begins
# at its largest rate: until the first REMB, x-google-start-bitrate holds.
_SIMULATED_ENCODER = {
    "audio_rate_bps": 0.0, "key_frame_interval_s": 100.0, "minimum_output_share": 0.85,
    "rise_time_constant_s": 1.35, "fall_time_constant_s": 0.25,
}  # fmt: skip


@dataclass(frozen=True)
class CallSets:
    """The scenarios; `no_traces` says why there are no Mahimahi traces."""

    muses: Scenario
    mahimahi: list[Scenario]
    also_replayed: Scenario
    no_traces: str = ""

    @property
    def compared(self) -> list[Scenario]:
        """With Weir and with GCC."""
        return [self.muses, *self.mahimahi]

    @property
    def replayed(self) -> list[Scenario]:
        """In a call and in a replay, with an encoder like that of the calls."""
        return [with_simulated_encoder(scenario) for scenario in (*self.compared, self.also_replayed)]


def call_sets(traces: Path | None, max_bitrate_bps: int) -> CallSets:
    """The scenarios of the experiment, with a video of that largest bitrate as their media.

    Args:
        traces: the folder that holds `mahimahi/`; None: there is none.
        max_bitrate_bps: of the encoder.

    Raises:
        InputError: the folder lacks one of the traces, or one cannot be used.
    """

    def prepared(scenario: Scenario) -> Scenario:
        return with_video(scenario, max_bitrate_bps)

    mahimahi = []
    for name in MAHIMAHI_TRACES if traces is not None else ():
        assert traces is not None
        path = traces / "mahimahi" / name
        if not path.is_file():
            raise InputError(f"--traces {traces}: no mahimahi/{name} in it")
        mahimahi.append(
            to_scenario(
                read_trace(path, repair=True),
                name=f"mahimahi-{path.stem}",
                one_way_delay_ms=DEFAULT_ONE_WAY_DELAY_MS,
                queue=DEFAULT_QUEUE,
                duration_s=DURATION_S,
            )
        )
    missing = "" if traces is not None else "needs the mahimahi traces: name their folder with --traces"
    return CallSets(
        prepared(muses_cross_traffic()),
        [prepared(scenario) for scenario in mahimahi],
        prepared(load_bundled(ALSO_REPLAYED)),
        missing,
    )


def with_video(scenario: Scenario, max_bitrate_bps: int) -> Scenario:
    """The scenario with a video encoder of that largest bitrate in its first RTP flow."""
    return _with_media(scenario, lambda _: {"kind": "video", "max_rate_bps": float(max_bitrate_bps)})


def with_simulated_encoder(scenario: Scenario, **changes: float) -> Scenario:
    """The scenario for a replay whose video is to be like that of a call: the encoder is like Chromium's, but for the
    fields of its media that `changes` names.
    """
    return _with_media(
        scenario,
        lambda media: media | _SIMULATED_ENCODER | {"initial_rate_bps": media["max_rate_bps"]} | changes,
    )


def _with_media(scenario: Scenario, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> Scenario:
    data = scenario.to_dict()
    flow = next(flow for flow in data["flows"] if flow["kind"] == "rtp")
    flow["media"] = changed(flow["media"])
    return Scenario.from_dict(data, scenario.name)


def experiment_calls(base: CallPlan, sets: CallSets, out: Path, programs: Sequence[Path]) -> dict[str, CallSettings]:
    """All calls by their key. `base` says everything but scenarios, controllers and duration."""
    compared = replace(base, scenarios=sets.compared, controllers=("weir", "gcc"), duration_s=None)
    also = replace(base, scenarios=[sets.also_replayed], controllers=("weir",), duration_s=None)
    return plan_calls(compared, out, programs) | plan_calls(also, out, programs)


def experiment_rows(
    sets: CallSets,
    records: Sequence[Mapping[str, Any]],
    replayed: Sequence[Mapping[str, Any]],
    calls: Mapping[str, CallSettings],
    model: Path,
) -> list[Row]:
    """Every goal, in order.

    Args:
        sets: the scenarios.
        records: of the calls.
        replayed: of the replays of the same scenarios, controller weir.
        calls: by key, for their folders.
        model: the policy.
    """
    names = {scenario.name for scenario in sets.mahimahi}
    muses = [record for record in records if record["scenario"] == sets.muses.name]
    mahimahi = [record for record in records if record["scenario"] in names]
    # The path as each call had it.
    paths = {(call.scenario.name, call.seed): call for call in calls.values()}
    path_s = {key: path_freezes_s(call.scenario) for key, call in paths.items() if call.scenario.name in names}
    left_bps = {key: carriable_bps(call.scenario, call.max_bitrate_bps) for key, call in paths.items()}
    accuracies = {
        calls[record["key"]].name: link_accuracy(calls[record["key"]].out / LINK_LOG, calls[record["key"]].scenario)
        for record in records
        if record.get("key") in calls
    }
    return [
        *comparison_rows(muses, mahimahi, sets.no_traces, path_s, left_bps),
        *link_rows(accuracies, worst(list(accuracies.values()))),
        *sim_to_real_rows(
            [scenario.name for scenario in sets.replayed], records, [with_delay(record) for record in replayed]
        ),
        cpu_row(estimator_cpu_share(model, CPU_RATE_BPS)),
    ]


def with_delay(record: RunRecord) -> RunRecord:
    """A replay's record with the network delay as calls measure it: all that a packet of its call is on the way."""
    delays = next(flow for flow in record.flows if flow.kind == "rtp").delay_ms
    run = {**record.measures, "network_delay_ms_p95": delays.get("p95")}
    return record.model_copy(update={"metrics": Metrics(run=run)})
