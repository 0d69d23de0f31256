import pytest

from weir.qoe_eval.experiments.calls.goals import comparison_rows, cpu_row, link_rows, pairs_of, sim_to_real_rows
from weir.qoe_eval.experiments.calls.link_accuracy import LinkAccuracy, worst


def record(controller, seed=1, scenario="muses", disturbed=(), **measures):
    return {
        "controller": controller, "scenario": scenario, "seed": seed, "metrics": {"run": measures},
        "call": {"disturbed": list(disturbed)},
    }  # fmt: skip


def both(weir, gcc, **more):
    return [record("weir", **weir, **more), record("gcc", **gcc, **more)]


ON_TRACES = ("mahimahi_closed", "lte_bitrate", "frozen")
LEFT_BPS = {("muses", 1): 1.5e6, ("muses", 2): 9e9, ("mahimahi-LTE-driving", 1): 3.0e6}


def rows_of(muses=(), mahimahi=(), no_traces="", path_s=None):
    rows = comparison_rows(list(muses), list(mahimahi), no_traces, path_s or {}, LEFT_BPS)
    return {row.name: row for row in rows}


GOOD = {
    "received_bitrate_bps": 1.4e6, "frames_per_second": 29.0, "network_delay_ms_p95": 90.0,
    "end_to_end_delay_ms_p95": 200.0, "vmaf_mean": 80.0, "vmaf_p5": 60.0,
}  # fmt: skip
PLAIN = {
    "received_bitrate_bps": 1.0e6, "frames_per_second": 30.0, "network_delay_ms_p95": 100.0,
    "end_to_end_delay_ms_p95": 200.0, "vmaf_mean": 70.0, "vmaf_p5": 60.0,
}  # fmt: skip


def test_better_calls_reach_the_goals():
    rows = rows_of(both(GOOD, PLAIN))
    assert rows["bitrate"].value == pytest.approx(1.4)
    assert rows["frame_rate"].value == pytest.approx(29 / 30)
    assert rows["delay"].value == pytest.approx(-10)
    reached = {name: row.reached for name, row in rows.items()}
    assert reached == dict.fromkeys(reached, True) | dict.fromkeys(ON_TRACES)


def test_worse_calls_do_not():
    rows = rows_of(both(PLAIN | {"vmaf_p5": 59.0, "frames_per_second": 20.0}, GOOD))
    reached = {name: row.reached for name, row in rows.items()}
    assert reached == dict.fromkeys(reached, False) | dict.fromkeys(ON_TRACES) | {"end_to_end": True}


def test_what_gcc_leaves_of_the_path_is_what_can_be_gained():
    rows = rows_of(both(GOOD, PLAIN), both(GOOD, PLAIN, scenario="mahimahi-LTE-driving"))
    assert rows["closed"].value == pytest.approx(0.8)
    assert rows["mahimahi_closed"].value == pytest.approx(0.2)
    assert rows["lte_bitrate"].value == pytest.approx(1.4)
    nothing_left = both(GOOD, PLAIN | {"received_bitrate_bps": 1.5e6})
    assert rows_of(nothing_left)["closed"].verdict == "not measured: GCC leaves nothing to gain"
    assert rows_of(no_traces="no folder")["mahimahi_closed"].verdict == "not measured: no folder"


def test_disturbed_calls_and_calls_without_a_partner_are_not_averaged():
    records = [
        *both(GOOD, PLAIN),
        *both({"received_bitrate_bps": 9e9}, {"received_bitrate_bps": 1.0}, seed=2, disturbed=["short of CPU"]),
        record("weir", 3, received_bitrate_bps=9e9),
    ]
    assert len(pairs_of(records, "received_bitrate_bps")) == 1
    assert rows_of(records)["bitrate"].value == pytest.approx(1.4)
    only_disturbed = rows_of(records[2:4])["bitrate"]
    assert only_disturbed.verdict == "not measured: no undisturbed pair of calls: short of CPU"
    assert rows_of()["bitrate"].verdict == "not measured: no complete pair of calls"


@pytest.mark.parametrize(
    ("weir_s", "gcc_s", "reached", "measured"),
    [(3.0, 10.0, True, "70 %"), (5.0, 10.0, False, "50 %"), (0.0, 0.0, True, "none"), (0.5, 0.0, False, "GCC: none")],
)
def test_time_frozen(weir_s, gcc_s, reached, measured):
    records = both({"total_freezes_duration_s": weir_s}, {"total_freezes_duration_s": gcc_s})
    row = rows_of(mahimahi=records, path_s={("muses", 1): 1.25, ("muses", 2): 7.0})["frozen"]
    assert (row.reached, row.measured) == (reached, measured)
    assert row.figures["path_s"] == 1.25


def test_without_traces():
    assert rows_of(no_traces="needs traces")["frozen"].verdict == "not measured: needs traces"


def test_the_link_is_judged_by_its_worst_call():
    accuracies = {"a": LinkAccuracy(1.01, 0.2), "b": LinkAccuracy(0.97, 1.9), "c": LinkAccuracy(None, None)}
    capacity, delay = link_rows(accuracies, worst(list(accuracies.values())))
    assert (capacity.value, capacity.reached) == (pytest.approx(0.03), False)
    assert (delay.value, delay.reached) == (1.9, True)
    assert [row.reached for row in link_rows({}, worst([]))] == [None, None]


def test_sim_to_real_is_judged_by_the_larger_deviation():
    def measures(rate, delay):
        return {"receive_rate_bps": rate, "network_delay_ms_p95": delay}

    calls = [record("weir", 1, **measures(1.0e6, 100.0)), record("weir", 2, **measures(1.2e6, 110.0))]
    calls += [record("weir", 3, disturbed=["x"], **measures(9e9, 9e9)), record("gcc", 1, **measures(9e9, 9e9))]
    replayed = [record("weir", 1, **measures(1.0e6, 120.0))]
    row, missing = sim_to_real_rows(["muses", "other"], calls, replayed)
    assert row.figures == {"rate_ratio": pytest.approx(1.1), "delay_ratio": pytest.approx(105 / 120)}
    assert (row.value, row.reached) == (pytest.approx(0.125), True)
    assert missing.reached is None


def test_cpu_has_to_stay_below_a_hundredth():
    assert cpu_row(0.0099).reached
    assert not cpu_row(0.01).reached
