"""The settings of a call, and the calls that a command makes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from weir_calls.call.logs import RECORD
from weir_calls.call_options import is_command
from weir_cli.files.input import sha256_of_file
from weir_cli.files.output import file_name
from weir_eval.records.call_record import CallDetails, CallRecord
from weir_eval.runs.call_media import DEFAULT_MAX_BITRATE_BPS, PlayoutMode
from weir_eval.runs.custom_controllers import CustomController
from weir_eval.runs.jobs import member_digests, runs_policy
from weir_sim.controllers import (
    AT_NATIVE_SENDER,
    LIBWEBRTC_SENDERS,
    field_trials,
    is_pool,
    uses_model,
    without_field_trials,
)
from weir_traces.schema.scenario import RtpFlow, Scenario
from weir_traces.schema.variation import varied

Order = dict[str, Any]
"""An order for a running call, executed by `weir_calls.call.session`: stop the call, take the link down, or a
message for the receiver.
"""

CALLS = "calls"
# Calls replay scenarios of up to two minutes in full, and the first minute of longer ones.
_LONGEST_DURATION_S = 120.0
_CUT_DURATION_S = 60.0
# Settings that the key has in another form, or that do not affect the call.
_NOT_IN_KEY = ("scenario", "out", "model", "objective", "custom", "quality")


@dataclass(frozen=True, kw_only=True)
class CommonSettings:
    """The settings that all calls of a plan share.

    `sender`, `receiver`: chromium, native, or both a shell command line; `receiver` chromium requires a native sender
    under a controller of LIBWEBRTC_SENDERS or AT_NATIVE_SENDER, which needs no REMB. `objective`: weights of
    throughput, latency and loss. `max_bitrate_bps`: limit of the encoder. `model`: None for the shipped one.
    `decision_delay_ms`: delay after which the policy's answers take effect. `lip_sync`: False: the receiver renders
    video without waiting for audio. `playout`: a native receiver plays audio and video earlier (`weir-peer
    --limit-playout`) in calls in which Weir decides, in all calls or in none. `quality`: compare picture and speech
    with their sources, which takes as long as the call.
    """

    sender: str
    receiver: str = "native"
    objective: tuple[float, float, float]
    width: int
    height: int
    frames_per_second: int = 30
    codec: str = "VP8"
    audio_codec: str = "opus"
    max_bitrate_bps: int = DEFAULT_MAX_BITRATE_BPS
    model: Path | None = None
    decision_delay_ms: float = 0.0
    lip_sync: bool = True
    playout: PlayoutMode = "adaptive"
    quality: bool = True

    @property
    def by_commands(self) -> bool:
        """True if both ends are commands of the user; a controller is then a label."""
        return is_command(self.receiver)


@dataclass(frozen=True, kw_only=True)
class CallSettings(CommonSettings):
    """One call.

    `scenario`: replayed by the link; `variation`: the values drawn by its seed, for the record. `controller`: one of
    IN_CALLS, LIBWEBRTC_SENDERS, AT_NATIVE_SENDER or WITHOUT_MODEL, a pool specification, or the name of `custom`, a
    custom controller that replaces the model. `out`: the folder of the call.
    """

    scenario: Scenario
    controller: str
    duration_s: float
    seed: int
    out: Path
    variation: dict[str, Any] = field(default_factory=dict)
    custom: CustomController | None = None

    @property
    def follows_objective(self) -> bool:
        """True if a controller of the call follows an objective."""
        if self.by_commands:
            return False
        return self.custom is not None or is_pool(self.controller) or self.runs_model

    @property
    def runs_model(self) -> bool:
        """True if an endpoint of the call needs the policy model."""
        return self.custom is None and not self.by_commands and uses_model(self.controller)

    @property
    def decided_at_sender(self) -> bool:
        """True if Weir runs at the sender, and the receiver only sends feedback."""
        return self.controller in AT_NATIVE_SENDER

    @property
    def decided_by_libwebrtc(self) -> bool:
        """True if libwebrtc's own controller decides at the sender, and the receiver only sends feedback."""
        return without_field_trials(self.controller) in LIBWEBRTC_SENDERS

    @property
    def limits_playout(self) -> bool:
        """True if the receiver limits for how long it holds audio and video."""
        if self.receiver != "native" or self.playout == "unlimited":
            return False
        return self.playout == "limited" or not (self.decided_by_libwebrtc or self.controller == "shadow")

    @property
    def transport_cc(self) -> bool:
        """`transport_cc` of the scenario's first RTP flow, which represents the call."""
        return next((flow.transport_cc for flow in self.scenario.flows if isinstance(flow, RtpFlow)), True)

    @property
    def field_trials(self) -> str:
        """libwebrtc's field trials at the sender."""
        return field_trials(self.controller) if self.decided_by_libwebrtc else ""

    @property
    def name(self) -> str:
        """The display name."""
        return ", ".join([self.scenario.name, self.controller, f"seed {self.seed}", *unusual(self)])


def unusual(call: CallSettings | CallDetails) -> list[str]:
    """The settings in which a call differs from the default for its scenario, controller and seed."""
    delay = [f"{call.decision_delay_ms:g}ms"] if call.decision_delay_ms else []
    lip_sync = [] if call.lip_sync else ["no lip sync"]
    playout = [] if call.playout in ("adaptive", "") else [f"playout {call.playout}"]
    return [*delay, *([] if call.transport_cc else ["REMB alone"]), *lip_sync, *playout]


@dataclass(frozen=True)
class CallResult:
    """The record of a call in `folder`. `missing`: it failed because a component is missing, and further calls would
    fail too.
    """

    record: CallRecord
    folder: Path
    missing: bool = False

    @property
    def failure(self) -> str:
        """Why the call ended early; empty if it did not."""
        return self.record.call.failure


@dataclass(frozen=True, kw_only=True)
class CallPlan(CommonSettings):
    """Calls of every scenario, varied by each seed, under every controller.

    `duration_s` None: `call_duration_s`. `custom`: the custom controllers by name. `path_seed`: the seed of the
    path of all calls.
    """

    scenarios: Sequence[Scenario]
    controllers: Sequence[str]
    seeds: Sequence[int]
    duration_s: float | None = None
    custom: Mapping[str, CustomController] = field(default_factory=dict)
    path_seed: int | None = None


def call_duration_s(scenario: Scenario) -> float:
    """The default duration of a call: that of its scenario, or one minute if that is over two."""
    return scenario.duration_s if scenario.duration_s <= _LONGEST_DURATION_S else _CUT_DURATION_S


def plan_calls(plan: CallPlan, out: Path, programs: Sequence[Path]) -> dict[str, CallSettings]:
    """Returns the calls of a plan by key, a digest of everything that determines a call, in the order in which to make
    them: seeds outermost, and controllers innermost, so that the machine is in a similar state for compared calls.

    Args:
        plan: the calls.
        out: parent of the folders of calls.
        programs: executables that take part; another build gives another key.
    """
    builds = [sha256_of_file(program) for program in programs]
    model = sha256_of_file(plan.model) if plan.model else None
    common: dict[str, Any] = {field.name: getattr(plan, field.name) for field in fields(CommonSettings)}
    calls = {}
    for seed in plan.seeds:
        for scenario, variation in varied(plan.scenarios, seed, plan.path_seed):
            for controller in plan.controllers:
                custom = plan.custom.get(controller)
                model_of_call = plan.model if uses_model(controller) and not custom else None
                delay_ms = plan.decision_delay_ms if runs_policy(controller, custom) else 0.0
                settings = CallSettings(
                    **common | {"model": model_of_call, "decision_delay_ms": delay_ms},
                    custom=custom,
                    scenario=scenario,
                    controller=controller,
                    duration_s=plan.duration_s or call_duration_s(scenario),
                    seed=seed,
                    out=out / CALLS,
                    variation=variation,
                )
                folder = file_name(scenario.name, controller, seed, *unusual(settings))
                settings = replace(settings, out=settings.out / folder)
                calls[_key(settings, [*builds, model if settings.model else None])] = settings
    return calls


def done_calls(calls: Mapping[str, CallSettings], records: Sequence[CallRecord]) -> dict[str, CallRecord]:
    """The records, by key, of the calls that are complete and whose folder still exists."""
    return {
        record.key: record for record in records if record.key in calls and (calls[record.key].out / RECORD).is_file()
    }


def _key(settings: CallSettings, builds: Sequence[str | None]) -> str:
    document = {name: value for name, value in vars(settings).items() if name not in _NOT_IN_KEY}
    # Without a controller that follows it, the objective has no effect.
    objective = settings.objective if settings.follows_objective else None
    identity = [settings.scenario.to_dict(), document, objective, builds]
    if is_pool(settings.controller):
        identity.append(member_digests(settings.controller))
    if settings.custom:
        identity.append(settings.custom.identity)
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
