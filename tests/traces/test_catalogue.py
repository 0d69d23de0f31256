"""The bundled scenarios: reproducible, and covering what they are to cover."""

import json

import pytest

from weir_cli.errors import InputError
from weir_traces.catalogue import (
    CATALOGUE_FOLDER,
    build_catalogue,
    bundled_names,
    bundled_scenarios,
    index,
    load_bundled,
)
from weir_traces.generate.pantheon import pantheon_scenarios
from weir_traces.generate.published import call_scenarios, rfc8867_scenarios
from weir_traces.listing import INDEX
from weir_traces.schema.scenario import CbrFlow, RtpFlow, Scenario, TcpFlow


@pytest.fixture(scope="module")
def bundled() -> list[Scenario]:
    return bundled_scenarios()


def test_files_are_what_the_generator_makes() -> None:
    built = build_catalogue()
    assert set(CATALOGUE_FOLDER.rglob("*.json")) == built.keys()
    for path, scenario in built.items():
        assert Scenario.load(path) == scenario, f"{path.name}: run python -m weir_traces.catalogue"
    assert json.loads(INDEX.read_text()) == json.loads(json.dumps(index()))


def test_names_and_provenance(bundled: list[Scenario]) -> None:
    assert [scenario.name for scenario in bundled] == bundled_names()
    assert 22 <= len(bundled) <= 28
    for scenario in [*bundled, *rfc8867_scenarios(), *call_scenarios(), *pantheon_scenarios()]:
        assert scenario.provenance["licence"] == "BSD-3-Clause"
        assert scenario.provenance["source"]
        assert scenario.description


def test_the_catalogue_is_cheap(bundled: list[Scenario]) -> None:
    assert all(20 <= scenario.duration_s <= 60 for scenario in bundled)
    means = [scenario.forward.mean_capacity_bps(scenario.duration_s) or 0 for scenario in bundled]
    assert sum(mean > 10e6 for mean in means) <= 4
    # Packets of 1200 bytes that all forward links together could carry: what a report costs.
    packets = sum(mean * scenario.duration_s for mean, scenario in zip(means, bundled, strict=True)) / 9600
    assert packets < 800_000


def test_the_catalogue_spans_rates_and_delays(bundled: list[Scenario]) -> None:
    means = [scenario.forward.mean_capacity_bps(scenario.duration_s) or 0 for scenario in bundled]
    delays = [scenario.forward.one_way_delay_ms for scenario in bundled]
    assert (min(means), max(means)) == (100e3, 50e6)
    assert (min(delays), max(delays)) == (5, 200)
    for low, high in ((0, 500e3), (500e3, 2e6), (2e6, 8e6), (8e6, 60e6)):
        assert sum(low <= mean < high for mean in means) >= 3


def test_the_catalogue_has_every_kind_of_trouble(bundled: list[Scenario]) -> None:
    forwards = [scenario.forward for scenario in bundled]
    capacities = [forward.capacity.trace() for forward in forwards if forward.capacity]
    names = " ".join(scenario.name for scenario in bundled)
    for kind in ("steady", "step", "sawtooth", "cellular", "wifi", "outage", "handover", "codel"):
        assert kind in names
    assert sum(trace.rates_bps.size == 1 for trace in capacities) >= 7
    assert sum(trace.rates_bps.min() == 0 for trace in capacities) >= 2
    assert {forward.loss.kind for forward in forwards} == {"none", "bernoulli", "gilbert_elliott"}
    assert sum(forward.jitter.kind != "none" for forward in forwards) >= 3
    assert any(forward.queue.packets for forward in forwards)
    assert any((forward.queue.milliseconds or 0) >= 2000 for forward in forwards)
    assert any(forward.queue_discipline == "codel" for forward in forwards)
    assert any(scenario.reverse.loss.kind != "none" for scenario in bundled)
    flows = [flow for scenario in bundled for flow in scenario.flows]
    assert any(isinstance(flow, TcpFlow) for flow in flows)
    assert any(isinstance(flow, RtpFlow) and flow.pauses_s for flow in flows)


def test_cross_traffic_of_muses_goes_up_and_down_in_steps() -> None:
    scenario = load_bundled("muses-cross-traffic")
    assert scenario.name not in bundled_names()
    assert (scenario.duration_s, scenario.forward.one_way_delay_ms, scenario.forward.mean_capacity_bps(110)) == (
        110, 30, 3e6
    )  # fmt: skip
    cross = [flow for flow in scenario.flows if isinstance(flow, CbrFlow)]

    def level_kbps(time_s: float) -> float:
        return sum(flow.rate_bps for flow in cross if flow.start_s <= time_s < (flow.stop_s or 0)) / 1e3

    levels = [level_kbps(10 * step + 5) for step in range(11)]
    assert levels == [0, 500, 1000, 1500, 2000, 2500, 2000, 1500, 1000, 500, 0]


def test_loading_by_name() -> None:
    assert load_bundled("outage").name == "outage"
    assert load_bundled("rfc8867-5.5").duration_s == 300
    for name in ("none", "../catalogue/outage", "rfc8867/rfc8867-5.5", "", "."):
        with pytest.raises(InputError, match='"weir traces list" shows them all'):
            load_bundled(name)


def case(prefix: str) -> list[Scenario]:
    return [scenario for scenario in rfc8867_scenarios() if scenario.name.startswith(f"rfc8867-{prefix}")]


def capacity(scenario: Scenario, side: str = "forward") -> list[tuple[float, float]]:
    value = getattr(scenario, side).capacity
    return list(zip(value.times_s, value.rates_bps, strict=True))


def test_rfc8867_common_values() -> None:
    for scenario in rfc8867_scenarios():
        assert scenario.forward.jitter.model_dump() == {
            "kind": "truncated_gaussian", "standard_deviation_ms": 15.0, "maximum_ms": 30.0, "reorder": False
        }  # fmt: skip
        assert scenario.forward.loss.kind == "none"
        assert scenario.forward.queue_discipline == "drop_tail"
        for flow in scenario.flows:
            if isinstance(flow, RtpFlow):
                assert (flow.min_rate_bps, flow.start_rate_bps) == (150e3, 150e3)
                assert flow.media.max_rate_bps == 1.5e6
                assert flow.controller == "under_test"


def test_rfc8867_cases() -> None:
    assert {scenario.name.split("-")[1] for scenario in rfc8867_scenarios()} == {f"5.{n}" for n in range(1, 9)}
    scenarios = case("5.1")
    assert [scenario.forward.one_way_delay_ms for scenario in scenarios] == [50, 100]
    assert capacity(scenarios[0]) == [(0, 1e6), (40, 2.5e6), (60, 0.6e6), (80, 1e6)]
    (two,) = case("5.2")
    assert (two.duration_s, len(two.flows)) == (125, 2)
    assert capacity(two) == [(0, 4e6), (25, 2e6), (50, 3.5e6), (75, 1e6), (100, 2e6)]
    (three,) = case("5.3")
    assert [flow.direction for flow in three.flows] == ["forward", "reverse"]
    assert capacity(three) == [(0, 2e6), (20, 1e6), (40, 0.5e6), (60, 2e6)]
    assert capacity(three, "reverse") == [(0, 2e6), (35, 0.8e6), (70, 2e6)]
    (four,) = case("5.4")
    assert [flow.start_s for flow in four.flows] == [0, 20, 40]
    assert capacity(four) == [(0, 3.5e6)]
    (five,) = case("5.5")
    delays = [five.forward.one_way_delay_ms + flow.extra_one_way_delay_ms for flow in five.flows if flow.kind == "rtp"]
    assert delays == [10, 25, 50, 100, 150]
    assert (five.duration_s, capacity(five)) == (300, [(0, 4e6)])
    assert [scenario.forward.queue.milliseconds for scenario in case("5.6")] == [300, 1000]
    assert [(flow.kind, flow.start_s) for flow in case("5.6")[0].flows] == [("rtp", 5), ("tcp", 0)]
    (seven,) = case("5.7")
    transfers = [flow.transfers for flow in seven.flows if isinstance(flow, TcpFlow)]
    assert len(transfers) == 10
    assert sum(transfer is not None and transfer.start_on for transfer in transfers) == 2
    assert all(transfer is not None and transfer.bytes == [30000, 50000] for transfer in transfers)
    (eight,) = case("5.8")
    assert [flow.pauses_s for flow in eight.flows if isinstance(flow, RtpFlow)] == [[[40, 60]], [], []]
