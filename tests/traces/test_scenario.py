"""The scenario format: what is accepted, what is refused and how."""

import json
from pathlib import Path
from typing import Any

import pytest

from weir_cli.errors import InputError
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.scenario import Queue, Scenario

DATA = Path(__file__).parents[1] / "data" / "scenarios"

REFUSALS = {
    "audio-packets-too-rare": "flows[0].media.audio_packets_per_second: must be at least 0.1, not 0.05",
    "transport-cc-as-number": "flows[0].transport_cc: must be true or false, not 1",
    "boolean-as-number": "forward.one_way_delay_ms: must be a number, not True",
    "clock-step-too-large": "flows[0].sender_clock_steps.steps_ms[0]: must be at least -1000000, not -2000000.0",
    "clock-steps-and-times-differ": ("flows[0].sender_clock_steps: 2 times_s and 1 steps_ms; give as many of each"),
    "duplicate-flow-id": 'flows[1].id: "media" is taken; give every flow an id of its own',
    "loss-in-percent": "forward.loss.ratio: must be at most 1, not 2",
    "loss-key-of-other-kind": "forward.loss.ratio: this key does not belong here; remove it",
    "missing-capacity": "forward.capacity: is missing; add it",
    "missing-duration": "duration_s: is missing; add it",
    "missing-name": "name: is missing; add it",
    "negative-rate": "forward.capacity.rates_bps[0]: must be at least 0, not -1",
    "no-flows": "flows: needs at least 1 value(s), not an empty JSON array",
    "no-queue-limit": 'forward.queue: give exactly one of "milliseconds", "bytes" and "packets"',
    "number-as-string": "duration_s: must be a number, not '60'",
    "objective-sum": "flows[0]: objective: the three weights must sum to 1, not 1.5",
    "pauses-overlap": "flows[0].pauses_s: [2, 4] must end after its start and follow the one before",
    "period-below-a-ns": "forward.capacity: the period (1e-12 s) must be later than the last time, by 1 ns",
    "period-too-short": "forward.capacity: the period (5 s) must be later than the last time",
    "policer-without-room": "forward.loss.burst_bytes: must be at least 1500, not 1000",
    "rate-above-limit": "forward.capacity.rates_bps[0]: must be at most 10000000000, not 33000000000.0",
    "rates-and-times-differ": "forward.capacity: 2 times and 1 rates; give as many of each",
    "sender-clock-out-of-range": "flows[0].sender_clock_ppm: must be at most 5000, not 6000",
    "slots-too-short": "forward.jitter.interval_ms: must be at least 0.1, not 0.01",
    "spikes-without-order": "forward.jitter: longest_ms must be at least shortest_ms",
    "stop-before-start": "flows[0]: stop_s (5) must be later than start_s (5)",
    "times-not-from-zero": "forward.capacity: the first time is 1 s; shift the trace so that it starts at 0",
    "times-not-increasing": "forward.capacity: time 2 (5 s) is not later than the one before it",
    "too-many-frames": "flows[0].media.frames_per_second: must be at most 1000, not 1001",
    "too-few-frames": "flows[0].media.frames_per_second: must be at least 0.1, not 1e-10",
    "truncated": "line 2, column 20: not valid JSON",
    "two-queue-limits": 'forward.queue: give exactly one of "milliseconds", "bytes" and "packets"',
    "endless-tcp-without-capacity": ("flows[1]: an endless TCP transfer grows for ever where reverse.capacity is null"),
    "fused-tcp-without-copilot": "flows[0].congestion_control.copilots: is missing; add it",
    "uniform-interval-too-short": "forward.jitter.interval_ms: must be at least 0.1, not 0.01",
    "unknown-flow-kind": "flows[0]: kind 'udp' is not known; use one of 'rtp', 'tcp', 'cbr'",
    "unknown-key": 'durations_s: unknown key; did you mean "duration_s"? Else remove it',
    "unknown-nested-key": "forward.queue_bytes: unknown key; did you mean",
    "video-pauses-overlap": "flows[0].media.video_pauses_s: [2, 4] must end after its start and follow the one before",
    "wrong-schema": "schema: 'weir.scenario/2' is not allowed; use 'weir.scenario/1'",
    "zero-duration": "duration_s: must be greater than 0, not 0",
}


# One more than a scenario takes.
PAUSES = [[pause, pause + 0.5] for pause in range(10_001)]


def minimal() -> dict[str, Any]:
    return json.loads((DATA / "good" / "minimal.json").read_text())


@pytest.mark.parametrize("path", sorted((DATA / "good").glob("*.json")), ids=lambda path: path.stem)
def test_good_files_load_and_survive_a_round_trip(path: Path, tmp_path: Path) -> None:
    scenario = Scenario.load(path)
    assert scenario.name == path.stem
    copy = tmp_path / "copy.json"
    scenario.save(copy)
    assert Scenario.load(copy) == scenario
    assert json.loads(copy.read_text()) == scenario.to_dict()


@pytest.mark.parametrize("path", sorted((DATA / "bad").glob("*.json")), ids=lambda path: path.stem)
def test_bad_files_are_refused_with_file_place_and_remedy(path: Path) -> None:
    with pytest.raises(InputError) as refusal:
        Scenario.load(path)
    assert str(refusal.value).startswith(f"{path}: {REFUSALS[path.stem]}")
    assert "\n" not in str(refusal.value)


def test_every_refusal_has_its_file() -> None:
    assert {path.stem for path in (DATA / "bad").glob("*.json")} == REFUSALS.keys()
    assert len(list((DATA / "good").glob("*.json"))) >= 8


@pytest.mark.parametrize("key", ["sender_clock_ppm", "stall_probability", "rise_time_constant_s"])
def test_misplaced_and_unknown_keys_have_different_errors(key: str) -> None:
    with pytest.raises(InputError, match=f"{key}: this key does not belong here"):
        Scenario.from_dict(minimal() | {key: 1})
    with pytest.raises(InputError, match=f'unknown key; did you mean "{key}"'):
        Scenario.from_dict(minimal() | {key + "s": 1})


def test_the_reverse_link_takes_the_forward_delay() -> None:
    data = minimal()
    data["forward"]["one_way_delay_ms"] = 70
    assert Scenario.from_dict(data).reverse.one_way_delay_ms == 70
    data["reverse"] = {"loss": {"kind": "bernoulli", "ratio": 0.1}}
    reverse = Scenario.from_dict(data).reverse
    assert (reverse.one_way_delay_ms, reverse.capacity, reverse.loss.kind) == (70, None, "bernoulli")
    data["reverse"] = {"one_way_delay_ms": 5}
    assert Scenario.from_dict(data).reverse.one_way_delay_ms == 5


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({"kind": "cbr", "id": "x"}, "flows[1].rate_bps: is missing; add it"),
        ({"kind": "tcp", "congestion_control": "cubik"}, "flows[1].congestion_control: 'cubik' is not allowed"),
        (
            {"kind": "tcp", "congestion_control": {"pilot": "bbr", "copilots": ["bbr"], "fusion": "max"}},
            "flows[1].congestion_control: bbr is there twice",
        ),
        (
            {"kind": "tcp", "congestion_control": {"pilot": "bbr", "copilots": ["cubik"], "fusion": "max"}},
            "flows[1].congestion_control.copilots[0]: 'cubik' is not allowed",
        ),
        (
            {"kind": "tcp", "congestion_control": {"pilot": "bbr", "copilots": [], "fusion": "max"}},
            "flows[1].congestion_control.copilots: needs at least 1",
        ),
        (
            {"kind": "tcp", "congestion_control": {"pilot": "bbr", "copilots": ["copa"], "fusion": "closest"}},
            "flows[1].congestion_control.fusion: 'closest' is not allowed",
        ),
        ({"kind": "tcp", "transfers": {"bytes": [5, 4], "idle_mean_s": 1}}, "flows[1].transfers: bytes: the smallest"),
        ({"kind": "rtp", "id": "x", "min_rate_bps": 500e3}, "flows[1]: start_rate_bps (300000) must be at least"),
        ({"kind": "rtp", "id": "x", "media": {"kind": "filler", "max_rate_bps": 20e3}}, "flows[1]: media.max_rate_bps"),
        ({"kind": "rtp", "id": "x", "media": {"max_rate_bps": 20e3}}, 'flows[1].media: needs the key "kind"'),
        ({"kind": "rtp", "id": "x", "objective": [0, 0.5, 0.5]}, "flows[1].objective[0]: must be greater than 0"),
        ({"kind": "rtp", "id": "x", "pauses_s": [[1]]}, "flows[1].pauses_s[0]: needs at least 2 value(s)"),
        (
            {"kind": "rtp", "id": "x", "pauses_s": PAUSES},
            "flows[1].pauses_s: takes at most 10000 value(s), not 10001",
        ),
        (
            {"kind": "rtp", "id": "x", "media": {"kind": "video", "video_pauses_s": PAUSES}},
            "flows[1].media.video_pauses_s: takes at most 10000 value(s), not 10001",
        ),
        ({"kind": "rtp", "id": ""}, "flows[1].id: must not be empty"),
        ({"kind": "cbr", "rate_bps": 1e6, "extra_one_way_delay_ms": 5}, "flows[1].extra_one_way_delay_ms: this key"),
        ({"id": "x"}, 'flows[1]: needs the key "kind"'),
        (7, "flows[1]: must be a JSON object, not 7"),
    ],
)
def test_flows_are_checked(flow: Any, message: str) -> None:
    data = minimal()
    data["flows"].append(flow)
    with pytest.raises(InputError) as refusal:
        Scenario.from_dict(data, "some.json")
    assert str(refusal.value).startswith(f"some.json: {message}")


VIDEO = {"kind": "video"}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("seed", 1, "seed: unknown key"),
        ("provenance", {"source": 1}, "provenance.source: must be a string, not 1"),
        ("forward/queue", {"packets": 0}, "forward.queue.packets: must be greater than 0, not 0"),
        ("forward/queue", {"milliseconds": 0}, "forward.queue.milliseconds: must be greater than 0, not 0"),
        ("forward/queue", {"bytes": 1.5}, "forward.queue.bytes: must be a whole number, not 1.5"),
        (
            "forward/loss",
            {"kind": "bernoulli", "ratio": {"times_s": [0], "ratios": [1.1]}},
            "forward.loss.ratio.ratios[0]: must be at most 1, not 1.1",
        ),
        (
            "forward/loss",
            {"kind": "gilbert_elliott", "good_to_bad": 0, "bad_to_good": 0, "loss_good": 2, "loss_bad": 0},
            "forward.loss.loss_good: must be at most 1, not 2",
        ),
        (
            "forward/loss",
            {"kind": "policer", "rate_bps": 0, "burst_bytes": 1500},
            "forward.loss.rate_bps: must be at least 1, not 0",
        ),
        (
            "forward/jitter",
            {"kind": "uniform", "maximum_ms": 1, "reorder": True},
            "forward.jitter.reorder: this key does not belong here",
        ),
        (
            "forward/one_way_delay_ms",
            {"times_s": [0], "values_ms": [20], "rates_bps": [1]},
            "2 faults:\n  forward.one_way_delay_ms.rates_bps: this key does not belong here",
        ),
        ("flows/0/stop_s", 0, "flows[0].stop_s: must be greater than 0, not 0"),
        ("flows/0/min_rate_bps", 0, "flows[0].min_rate_bps: must be greater than 0, not 0"),
        ("flows/0/start_rate_bps", 0, "flows[0].start_rate_bps: must be greater than 0, not 0"),
        ("flows/0/fixed_rate_bps", 0, "flows[0].fixed_rate_bps: must be greater than 0, not 0"),
        ("flows/0/sender_clock_offset_s", 65, "flows[0].sender_clock_offset_s: must be at most 64, not 65"),
        ("flows/0/objective", [0.5, 0.5, 1], "flows[0].objective[2]: must be less than 1, not 1"),
        ("flows/0/media", {"kind": "filler", "frames_per_second": 1}, "flows[0].media.frames_per_second: this key"),
        ("flows/0/media", {"kind": "filler", "max_rate_bps": 0}, "flows[0].media.max_rate_bps: must be greater than 0"),
        ("flows/0/media", VIDEO | {"key_frame_interval_s": 0}, "flows[0].media.key_frame_interval_s: must be greater"),
        ("flows/0/media", VIDEO | {"minimum_output_share": 0}, "flows[0].media.minimum_output_share: must be greater"),
        (
            "flows/0/media",
            VIDEO | {"minimum_output_share": 2},
            "flows[0].media.minimum_output_share: must be at most",
        ),
        ("flows/0/media", VIDEO | {"stall_probability": 2}, "flows[0].media.stall_probability: must be at most 1"),
        ("flows/0/media", VIDEO | {"rise_time_constant_s": 61}, "flows[0].media.rise_time_constant_s: must be at most"),
        ("flows/0/media", VIDEO | {"fall_time_constant_s": 61}, "flows[0].media.fall_time_constant_s: must be at most"),
        ("flows/0", {"kind": "cbr", "rate_bps": 0}, "flows[0].rate_bps: must be greater than 0, not 0"),
        (
            "flows/0",
            {"kind": "tcp", "transfers": {"bytes": [1, 2], "idle_mean_s": 2e9}},
            "flows[0].transfers.idle_mean_s: must be at most 1000000000",
        ),
    ],
)
def test_values_that_the_simulator_does_not_check_are_refused(place: str, value: Any, message: str) -> None:
    """The simulator checks only what it could not survive."""
    data = minimal()
    *path, key = place.split("/")
    part: Any = data
    for step in path:
        part = part[int(step) if isinstance(part, list) else step]
    part[int(key) if isinstance(part, list) else key] = value
    with pytest.raises(InputError) as refusal:
        Scenario.from_dict(data, "some.json")
    assert str(refusal.value).startswith(f"some.json: {message}")


def test_as_many_pauses_as_the_simulator_reads() -> None:
    media = {"kind": "video", "video_pauses_s": PAUSES[:-1]}
    flow = scenario_with_flow({"kind": "rtp", "pauses_s": PAUSES[:-1], "media": media}).flows[0]
    assert len(flow.pauses_s) == len(flow.media.video_pauses_s) == 10_000


@pytest.mark.parametrize("name", ["", "gcc\n", "a" * 1025, "gc\u00e7"])
def test_the_name_of_a_controller_is_short_printable_ascii(name: str) -> None:
    with pytest.raises(InputError, match="controller"):
        scenario_with_flow({"kind": "rtp", "controller": name})
    assert scenario_with_flow({"kind": "rtp", "controller": "a custom one"}).flows[0].controller == "a custom one"


def scenario_with_flow(flow: dict[str, Any]) -> Scenario:
    return Scenario.make(name="x", duration_s=1.0, forward={"capacity": None}, flows=[flow])


@pytest.mark.parametrize(("count", "shown"), [(2, 2), (10, 10), (13, 10)])
def test_faults_are_named_together_up_to_ten(count: int, shown: int) -> None:
    keys = [f"key_{index}" for index in range(count)]
    with pytest.raises(InputError) as refusal:
        Scenario.from_dict(minimal() | dict.fromkeys(keys, 1), "x.json")
    first, *lines = str(refusal.value).split("\n")
    assert first == f"x.json: {count} faults:"
    assert [line.split(":")[0].strip() for line in lines[:shown]] == keys[:shown]
    assert lines[shown:] == ([f"  and {count - shown} more"] if count > shown else [])


def test_a_hostile_list_or_object_has_one_fault() -> None:
    """All of them would take 500 times the file's size in memory."""
    many = 20_000
    changes: list[tuple[dict[str, Any], str]] = [
        ({"flows": [1] * many}, "flows: takes at most 1000 value(s), not 20000"),
        ({f"key_{index}": 1 for index in range(many)}, "has 20006 keys; use at most 100"),
        ({"provenance": dict.fromkeys(map(str, range(many)), 1)}, "provenance: has 20000 keys; use at most 100"),
        (
            {"forward": {"capacity": {"times_s": ["x"] * many, "rates_bps": [1.0]}}},
            "forward.capacity.times_s[0]: must be a number, not 'x'",
        ),
    ]
    for change, message in changes:
        with pytest.raises(InputError) as refusal:
            Scenario.from_dict(minimal() | change, "x.json")
        assert str(refusal.value) == f"x.json: {message}"


@pytest.mark.parametrize(
    ("queue", "expected"),
    [(Queue(milliseconds=300), 75000), (Queue(bytes=100), 1500), (Queue(bytes=9000), 9000), (Queue(packets=3), 4500)],
)
def test_queue_limit_in_bytes(queue: Queue, expected: int) -> None:
    assert queue.limit_bytes(2e6) == expected


@pytest.mark.parametrize("name", ["\x1b[31mred", "two\nlines", "\x9b2J", "end\n"])
def test_a_name_has_no_control_characters(name: str) -> None:
    with pytest.raises(InputError) as refusal:
        Scenario.from_dict(minimal() | {"name": name}, "x.json")
    assert str(refusal.value) == f"x.json: name: must have no control characters, not {name!r}"
    with pytest.raises(InputError, match="id: must have no control characters"):
        scenario_with_flow({"kind": "rtp", "id": name})


@pytest.mark.parametrize("controller", ["", "gçc", "gcc\n", 1025 * "g"])
def test_a_controller_has_printable_ascii_characters(controller: str) -> None:
    with pytest.raises(InputError, match="controller: must be 1 to 1024 printable ASCII characters, not"):
        scenario_with_flow({"kind": "rtp", "controller": controller})


def test_queue_limit_beyond_what_the_simulator_reads() -> None:
    data = minimal()
    data["forward"]["queue"] = {"bytes": 10**30}
    with pytest.raises(InputError, match=r"forward\.queue\.bytes: must be at most"):
        Scenario.from_dict(data)


def test_queue_of_a_link_is_of_the_mean_over_its_period() -> None:
    trace = CapacityTrace([0, 10], [3e6, 1e6], 20)
    scenario = scenario_from_capacity(trace, "x", duration_s=10)
    assert scenario.forward.mean_capacity_bps(10) == pytest.approx(2e6)
    assert scenario.forward.queue_bytes(10) == 75000
    assert scenario.reverse.queue_bytes(10) is None


def test_scenario_around_a_plain_trace() -> None:
    trace = CapacityTrace([0, 10], [3e6, 1e6], 20)
    scenario = scenario_from_capacity(trace, "x")
    assert scenario.duration_s == 20
    assert scenario.forward.capacity is not None
    assert scenario.forward.capacity.trace() == trace
    assert (scenario.forward.one_way_delay_ms, scenario.reverse.one_way_delay_ms) == (25, 25)
    assert scenario_from_capacity(CapacityTrace.constant(1e6), "x").duration_s == 60
    lossy = scenario_from_capacity(trace, "x", loss_ratio=0.1, one_way_delay_ms=5, queue=Queue(packets=9), duration_s=7)
    assert lossy.forward.loss.model_dump() == {"kind": "bernoulli", "ratio": 0.1}
    assert (lossy.forward.queue.packets, lossy.reverse.one_way_delay_ms, lossy.duration_s) == (9, 5, 7)
    with pytest.raises(InputError, match=r"x: forward.loss.ratio: must be at most 1, not 2"):
        scenario_from_capacity(trace, "x", loss_ratio=2)
