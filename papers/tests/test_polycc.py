"""`weir paper polycc`: its measures on series made by hand, and its rows; `test_small.py` runs it."""

import pytest

from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.record import PathRecord
from weir_eval.records.run_record import RunRecord
from weir_papers.common import mean_of
from weir_papers.polycc.demonstrations import (
    HALVED_CONTROLS,
    JITTER_CONTROLS,
    JITTERS_MS,
    demonstrations,
    halved_name,
    jitter_name,
)
from weir_papers.polycc.polycc_measures import converged_after_s, goodput_bps
from weir_papers.polycc.rows import PolyccResults, polycc_rows


def record(goodput=(), in_flight=()):
    series = {"goodput_bps": list(goodput), "most_bytes_in_flight": list(in_flight)}
    flow = FlowRecord(id="tcp", kind="tcp", series=series)
    path = PathRecord(one_way_delay_ms=50.0)
    return RunRecord(
        scenario="hand", controller="rule", seed=1, duration_s=20.0, path=path, flows=[flow], series={"interval_s": 0.1}
    )


def test_goodput_is_the_mean_between_two_times():
    assert goodput_bps(record([1e6] * 50 + [3e6] * 150), 0, 5) == pytest.approx(1e6)
    assert goodput_bps(record([1e6] * 50 + [3e6] * 150), 4, 6) == pytest.approx(2e6)


def test_converged_is_the_first_second_from_which_on_it_stays():
    before = [250] * 50
    assert converged_after_s(record(in_flight=before + [400] * 20 + [120] * 100), 5, 125) == pytest.approx(2.0)
    # A probe within a second is none, a second above is.
    probed = [400] * 20 + [120] * 20 + [160] + [120] * 60
    assert converged_after_s(record(in_flight=before + probed), 5, 125) == pytest.approx(2.0)
    relapsed = [400] * 20 + [120] * 20 + [160] * 10 + [120] * 60
    assert converged_after_s(record(in_flight=before + relapsed), 5, 125) == pytest.approx(4.9)
    assert converged_after_s(record(in_flight=before + [100] * 50), 5, 125) == 0
    assert converged_after_s(record(in_flight=before + [100] * 50 + [200] * 10), 5, 125) is None


def test_interval_is_students():
    mean = mean_of([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean.mean == 3
    assert mean.half_interval == pytest.approx(2.776445 * 1.5811388 / 5**0.5)
    assert mean_of([2.0]).half_interval is None


def rows_of(converged, bbr_converged):
    by_seed = {1: 1.0, 2: 1.0}
    results = PolyccResults(
        goodput_bps={jitter_name(100, "bbr"): {1: 4e6, 2: 6e6}, jitter_name(100, "max(bbr, cubic)"): {1: 8e6, 2: 18e6}},
        before_bps={halved_name(control): by_seed for control in HALVED_CONTROLS},
        converged_s={halved_name("min(bbr, copa)"): converged, halved_name("bbr"): bbr_converged},
    )
    return {row.name: row for row in polycc_rows(results)}


def test_ratios_are_taken_seed_by_seed():
    rows = rows_of({1: 1.0, 2: 1.0}, {1: 2.0, 2: 5.0})
    assert rows["jitter100"].value == pytest.approx(2.5)
    assert rows["jitter100"].reached is True
    assert rows["bbr_idles"].value == pytest.approx(0.25)
    assert rows["halved"].value == pytest.approx(0.65)
    assert rows["halved_before"].value == pytest.approx(1.0)
    assert rows["jitter70"].reached is None


def test_what_never_converges():
    assert rows_of({1: 3.0, 2: 3.0}, {1: None, 2: 6.0})["halved"].value == pytest.approx((0.8 + 0.5) / 2)
    never = rows_of({1: None, 2: 3.0}, {1: 5.0, 2: 6.0})["halved"]
    assert (never.value, never.reached) == (None, False)


def test_every_control_has_its_scenario():
    names = [scenario.name for scenario in demonstrations()]
    assert len(names) == len(set(names)) == len(JITTERS_MS) * len(JITTER_CONTROLS) + len(HALVED_CONTROLS)
