"""From any format to any other, and options on the way."""

import itertools
import json
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.catalogue import load_bundled
from weir_traces.formats.convert import format_of, parse_queue, parse_rate, render, to_scenario
from weir_traces.formats.importers import read_trace
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.scenario import Link, Scenario
from weir_traces.schema.values_over_time import DelayOverTime, RatioOverTime

TRACE = CapacityTrace.from_durations([1.0, 0.6, 0.4, 2.0], [2.4e6, 0, 1.2e6, 6e6])
FORMATS = ("csv", "mahimahi", "opennetlab", "scenario")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("300", {"milliseconds": 300}), ("300ms", {"milliseconds": 300}), (" 12.5 ms ", {"milliseconds": 12.5}),
        ("2s", {"milliseconds": 2000}), ("120kB", {"bytes": 120_000}), ("1.5MB", {"bytes": 1_500_000}),
        ("15000B", {"bytes": 15_000}), ("50pkt", {"packets": 50}), ("50 packets", {"packets": 50}),
    ],
)  # fmt: skip
def test_queues(text: str, expected: dict[str, float]) -> None:
    assert parse_queue(text).model_dump(exclude_none=True) == expected


@pytest.mark.parametrize(
    "text", ["", "ms", "-5", "5 apples", "1e3", "3 00", "0", "0pkt", "1.5pkt", "0.5B", "nan", "5kib"]
)
def test_no_queues(text: str) -> None:
    with pytest.raises(InputError, match="queue"):
        parse_queue(text)


@pytest.mark.parametrize(
    ("text", "bps"),
    [("2500000", 2.5e6), ("300k", 3e5), ("2.5M", 2.5e6), ("2.5 Mbps", 2.5e6), ("1G", 1e9), ("1e6", 1e6), ("64bps", 64)],
)
def test_rates(text: str, bps: float) -> None:
    assert parse_rate(text) == bps


@pytest.mark.parametrize("text", ["", "k", "-1", "0", "5MB", "fast"])
def test_no_rates(text: str) -> None:
    with pytest.raises(InputError, match="rate"):
        parse_rate(text)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(FORMATS, FORMATS)))
def test_any_to_any_keeps_length_and_integral(source: str, target: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(render(scenario_from_capacity(TRACE, "x"), source)[0])  # type: ignore[arg-type]
    text, lost = render(to_scenario(read_trace(first)), target)  # type: ignore[arg-type]
    second.write_text(text)
    read = read_trace(second)
    assert lost == []
    assert read.format == target
    assert read.capacity is not None
    assert read.capacity.period_s == pytest.approx(4.0)
    tolerance = 12_000 if "mahimahi" in (source, target) else 1
    assert read.capacity.integrate(0, 4) == pytest.approx(float(TRACE.integrate(0, 4)), abs=tolerance)
    if "mahimahi" not in (source, target):
        assert read.capacity.rates_bps == pytest.approx(TRACE.rates_bps)


def test_options_override_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ride.json"
    path.write_text(render(scenario_from_capacity(TRACE, "x", loss_ratio=0.1, one_way_delay_ms=70), "opennetlab")[0])
    own = to_scenario(read_trace(path))
    assert own.name == "ride"
    assert (own.forward.one_way_delay_ms, own.reverse.one_way_delay_ms, own.duration_s) == (70, 70, 60)
    assert own.forward.loss.model_dump() == {"kind": "bernoulli", "ratio": pytest.approx(0.1)}
    assert own.provenance["source"] == "ride.json (opennetlab)"
    changed = to_scenario(
        read_trace(path), name="n", one_way_delay_ms=5, queue=parse_queue("9pkt"), loss_ratio=0, duration_s=30
    )
    assert changed.name == "n"
    assert (changed.forward.one_way_delay_ms, changed.reverse.one_way_delay_ms, changed.duration_s) == (5, 5, 30)
    assert (changed.forward.queue.packets, changed.forward.loss.kind) == (9, "none")


def test_options_override_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    load_bundled("lossy-bursty").save(path)
    imported = read_trace(path)
    assert to_scenario(imported) == load_bundled("lossy-bursty")
    changed = to_scenario(
        imported, name="n", one_way_delay_ms=5, queue=parse_queue("30kB"), loss_ratio=0.5, duration_s=7
    )
    assert (changed.name, changed.duration_s, changed.forward.queue.bytes) == ("n", 7, 30_000)
    assert (changed.forward.one_way_delay_ms, changed.reverse.one_way_delay_ms) == (5, 5)
    assert changed.forward.loss.model_dump() == {"kind": "bernoulli", "ratio": 0.5}
    assert changed.reverse.loss.kind == "bernoulli"
    assert to_scenario(imported, loss_ratio=0).forward.loss.kind == "none"
    with pytest.raises(InputError, match="duration_s: must be greater than 0"):
        to_scenario(imported, duration_s=-1)


@pytest.mark.parametrize(
    ("name", "target", "lost"),
    [
        ("steady-1m", "csv", []),
        ("lossy-random", "opennetlab", []),
        ("lossy-random", "csv", ["one-way delay (60 ms)", "loss (bernoulli)"]),
        ("lossy-bursty", "opennetlab", ["loss (gilbert_elliott)", "reverse link"]),
        ("codel", "mahimahi", ["queue limit", "queue discipline (codel)"]),
        ("jittery", "opennetlab", ["jitter"]),
        ("tcp-competitor", "opennetlab", ["flows"]),
        ("tcp-competitor", "scenario", []),
    ],
)
def test_values_that_a_format_lacks_are_named(name: str, target: str, lost: list[str]) -> None:
    assert render(load_bundled(name), target)[1] == lost  # type: ignore[arg-type]


def test_a_capacity_without_a_period_is_cut_to_the_duration() -> None:
    scenario = scenario_from_capacity(CapacityTrace([0, 5, 50], [1e6, 2e6, 3e6]), "x", duration_s=10)
    assert render(scenario, "csv")[0] == "time_s,rate_bps\n0.0,1000000.0\n5.0,2000000.0\n10.0,\n"


def test_an_unlimited_capacity_is_no_trace() -> None:
    scenario = Scenario.make(name="x", duration_s=1.0, forward={"capacity": None}, flows=[{"kind": "rtp"}])
    with pytest.raises(InputError, match="the forward capacity is unlimited; a csv file needs one"):
        render(scenario, "csv")


def test_formats_by_ending() -> None:
    assert [format_of(name) for name in ("a.csv", "a.JSON", "b.up", "b.mahi")] == [
        "csv",
        "scenario",
        "mahimahi",
        "mahimahi",
    ]
    with pytest.raises(InputError, match="the ending does not give the format"):
        format_of("a.xyz")


def test_an_opennetlab_file_sets_both_directions(tmp_path: Path) -> None:
    pattern = [{"duration": 100, "capacity": 1000, "loss": 0.1, "rtt": 80}, {"duration": 100, "loss": 0, "rtt": 120}]
    back = [{"duration": 200, "capacity": 300, "loss": 0.02}]
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"uplink": {"trace_pattern": pattern}, "downlink": {"trace_pattern": back}}))
    scenario = to_scenario(read_trace(path))
    delay = DelayOverTime(times_s=[0, 0.1], values_ms=[40, 60], period_s=0.2)
    assert (scenario.forward.one_way_delay_ms, scenario.reverse.one_way_delay_ms) == (delay, delay)
    assert scenario.forward.loss.ratio == RatioOverTime(times_s=[0, 0.1], ratios=[0.1, 0], period_s=0.2)
    assert scenario.reverse.loss.ratio == 0.02
    assert scenario.reverse.capacity.rates_bps == [300e3]
    assert Scenario.from_json(scenario.to_json()) == scenario
    text, lost = render(scenario, "opennetlab")
    assert lost == ["reverse link"]
    path.write_text(text)
    again = read_trace(path)
    assert (again.loss_ratio, again.one_way_delay_ms) == (scenario.forward.loss.ratio, delay)


def test_delay_over_time() -> None:
    link = Link(capacity=None, one_way_delay_ms={"times_s": [0, 10], "values_ms": [20, 80]})
    assert link.mean_one_way_delay_ms(40) == 65
    assert link.one_way_delay_ms.at([0, 9.99, 10, 100]).tolist() == [20, 20, 80, 80]
    periodic = DelayOverTime(times_s=[0, 1], values_ms=[10, 30], period_s=2)
    assert periodic.mean(5) == 18
    assert periodic.at([1.5, 2.5]).tolist() == [30, 10]


@pytest.mark.parametrize(
    ("delay", "message"),
    [
        ({"times_s": [0, 1], "values_ms": [1]}, "forward.one_way_delay_ms: 2 times_s and 1 values_ms"),
        ({"times_s": [1], "values_ms": [1]}, "forward.one_way_delay_ms: times_s[0]: must be 0"),
        ({"times_s": [0, 2, 2], "values_ms": [1, 2, 3]}, "forward.one_way_delay_ms: times_s[2]: must be later"),
        ({"times_s": [0, 2], "values_ms": [1, 2], "period_s": 2}, "forward.one_way_delay_ms: period_s: must be later"),
        ({"times_s": [0], "values_ms": [-1]}, "forward.one_way_delay_ms.values_ms[0]: must be at least 0"),
        ({"times_s": [0], "ratios": [0]}, "forward.one_way_delay_ms.values_ms: is missing"),
        ("25", "forward.one_way_delay_ms: must be a number, not '25'"),
    ],
)
def test_no_delay_over_time(delay: object, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        Scenario.make(
            name="x", duration_s=5, forward={"capacity": None, "one_way_delay_ms": delay}, flows=[{"kind": "rtp"}]
        )
    assert message in str(refusal.value)
