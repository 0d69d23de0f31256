"""A custom controller, a Python class, behind the estimator, as replays run it."""

import gc
import sys
import weakref
from pathlib import Path

import pytest

import weir

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "controllers"))
from ten_line_rule import Controller as TenLineRule


def run(estimator: weir.BandwidthEstimator, from_us: int = 0, to_us: int = 4_000_000) -> weir.Estimate:
    """Even packets at 1 Mbps, 10 ms apart."""
    for now_us in range(from_us, to_us, 10_000):
        estimator.on_packet(
            arrival_time_us=now_us,
            ssrc=7,
            sequence_number=now_us // 10_000 & 0xFFFF,
            abs_send_time=(now_us * 262_144 // 1_000_000) & 0xFFFFFF,
            payload_bytes=1238,
        )
        while estimator.next_timeout_us <= now_us:
            estimator.on_timeout(now_us)
    return estimator.latest


class Recorder:
    """Keeps what it was given; its target is `target_bps`."""

    interval_us = 50_000
    target_bps: object = 700_000

    def __init__(self, constraints):
        self.constraints, self.packets, self.told = constraints, [], []
        Recorder.latest = self

    def on_packets(self, packets):
        self.packets = packets

    def on_timeout(self, now_us):
        if isinstance(self.target_bps, Exception):
            raise self.target_bps
        return self.target_bps

    def on_objective(self, objective):
        self.told.append(objective)

    def on_round_trip_time(self, round_trip_time_us):
        self.told.append(round_trip_time_us)


def test_a_class_decides_from_the_packets_of_its_interval() -> None:
    estimator = weir.BandwidthEstimator(Recorder, min_rate_bps=100_000)
    estimator.on_round_trip_time(40_000, 0)
    assert run(estimator).target_rate_bps == 700_000
    found = Recorder.latest
    assert {name: found.constraints[name] for name in ("min_bps", "start_bps", "max_bps")} == {
        "min_bps": 100_000,
        "start_bps": 300_000,
        "max_bps": 50_000_000,
    }
    assert sum(found.constraints["objective"].values()) == pytest.approx(1)
    assert len(found.packets) == 5
    packet = found.packets[0]
    assert packet.keys() == {
        "arrival_time_us", "ssrc", "sequence_number", "payload_type", "kind", "abs_send_time", "header_bytes",
        "payload_bytes", "padding_bytes", "queueing_delay_us", "lost_change",
    }  # fmt: skip
    assert (packet["ssrc"], packet["kind"], packet["payload_bytes"]) == (7, "video", 1238)
    assert 0 <= packet["queueing_delay_us"] < 10
    estimator.set_objective("latency")
    run(estimator, 4_000_000, 5_000_000)
    assert found.told[0] == 40_000
    assert found.told[1]["latency"] == pytest.approx(0.8)
    assert estimator.counters()["decisions"] == pytest.approx(100, abs=2)


def test_an_example_of_replays_follows_the_stream() -> None:
    assert 800_000 < run(weir.BandwidthEstimator(TenLineRule)).target_rate_bps < 3_000_000
    assert (
        run(weir.BandwidthEstimator(weir.Pool("pilot=mine", members={"mine": TenLineRule}))).target_rate_bps > 800_000
    )


def test_an_estimator_of_opennetlab_runs_as_it_is() -> None:
    class Estimator:
        def __init__(self):
            self.packets = 0

        def report_states(self, stats):
            self.packets += 1

        def get_estimated_bandwidth(self):
            return 500_000 + self.packets

    estimate = run(weir.BandwidthEstimator(Estimator))
    assert 500_300 <= estimate.target_rate_bps <= 500_400


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("target_bps", [ZeroDivisionError("mine"), float("nan"), -1, "fast", None, 1e13])
def test_after_a_failure_the_rule_decides_until_it_works_again(target_bps, monkeypatch) -> None:
    estimator = weir.BandwidthEstimator(Recorder)
    assert run(estimator, 0, 2_000_000).target_rate_bps == 700_000
    monkeypatch.setattr(Recorder, "target_bps", target_bps)
    assert run(estimator, 2_000_000, 4_000_000).reason == "fallback"
    assert estimator.counters()["faults"] == pytest.approx(40, abs=2)
    monkeypatch.undo()
    assert run(estimator, 4_000_000, 8_000_000).target_rate_bps == 700_000


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("interval_us", [0, 10_000_001, "often"])
def test_one_that_cannot_start_leaves_the_rule_in_force(interval_us, monkeypatch) -> None:
    monkeypatch.setattr(Recorder, "interval_us", interval_us)
    assert run(weir.BandwidthEstimator(Recorder)).reason == "fallback"


def test_it_may_take_the_place_of_another() -> None:
    estimator = weir.BandwidthEstimator("rule")
    run(estimator, 0, 2_000_000)
    estimator.set_controller(Recorder)
    assert run(estimator, 2_000_000, 6_000_000).target_rate_bps == 700_000


class HoldsItsEstimator(Recorder):
    """Refers to the estimator that it decides for, and calls `during` in each decision."""

    def __init__(self, constraints, held):
        super().__init__(constraints)
        self.held = held

    def on_timeout(self, now_us):
        self.during()
        return 700_000

    def during(self):
        pass


def with_itself() -> weir.BandwidthEstimator:
    held: list[weir.BandwidthEstimator] = []
    held.append(weir.BandwidthEstimator(lambda constraints: HoldsItsEstimator(constraints, held)))
    return held[0]


def test_an_estimator_that_its_controller_holds_is_collected() -> None:
    estimator = with_itself()
    assert run(estimator).target_rate_bps == 700_000
    controller = weakref.ref(Recorder.latest)
    del estimator, Recorder.latest
    gc.collect()
    assert controller() is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "change",
    [
        lambda estimator: estimator.set_controller("rule"),
        lambda estimator: estimator.configure_pool("pilot=rule"),
        lambda estimator: estimator.on_timeout(0),
        lambda estimator: estimator.set_objective("latency"),
    ],
)
def test_a_decision_cannot_change_its_own_estimator(change, monkeypatch) -> None:
    raised = []

    def during(controller):
        try:
            change(controller.held[0])
        except RuntimeError as error:
            raised.append(str(error))

    monkeypatch.setattr(HoldsItsEstimator, "during", during)
    assert run(with_itself()).target_rate_bps == 700_000
    assert set(raised) == {"a controller cannot change its own estimator while it decides"}


@pytest.mark.parametrize("what", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_leaves_a_decision(what, monkeypatch) -> None:
    def during(controller):
        raise what

    monkeypatch.setattr(HoldsItsEstimator, "during", during)
    estimator = with_itself()
    with pytest.raises(what):
        run(estimator)
    # The estimator can still be used.
    monkeypatch.undo()
    faults = estimator.counters()["faults"]
    run(estimator, 4_000_000, 6_000_000)
    assert estimator.counters()["faults"] == faults
    assert estimator.counters()["decisions"] > 30


def test_a_controller_that_fails_is_reported_once(monkeypatch) -> None:
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(report.exc_value))
    monkeypatch.setattr(Recorder, "target_bps", ZeroDivisionError("mine"))
    assert run(weir.BandwidthEstimator(Recorder)).reason in ("fallback", "guard_floor")
    assert [str(report) for report in reports] == ["mine"]
