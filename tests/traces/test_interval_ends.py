"""Rates of the time before their rows: logs of what arrived since the row before, by themselves, shown or stated."""

import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.importers import inspect_trace, read_trace
from weir_traces.formats.reading import Reading
from weir_traces.formats.tables.holding import side_of_rates
from weir_traces.schema.capacity import CapacityTrace

BEFORE, AFTER = Reading(rate_holds="before"), Reading(rate_holds="after")


def log(tmp_path: Path, rows: list[tuple[float, float]], name: str = "drive.log") -> Path:
    path = tmp_path / name
    path.write_text("".join(f"{time:.3f} {mbps:.5f}\n" for time, mbps in rows))
    return path


def drive(stalls: dict[int, tuple[float, float]], count: int = 120, start: float = 1.0) -> list[tuple[float, float]]:
    """A row each second at 0.3 to 1.6 Mbps, but those of `stalls`: after how long, and with what rate."""
    rng = random.Random(1)
    time, rows = start - 1.0, []
    for index in range(count):
        step, mbps = stalls.get(index, (1.0, rng.uniform(0.3, 1.6)))
        time += step
        rows.append((time, mbps))
    return rows


def below(trace: ImportedTrace, bps: float) -> float:
    capacity = trace.capacity
    assert capacity is not None
    assert capacity.period_s is not None
    steps = np.diff(np.append(capacity.times_s, capacity.period_s))
    return float(np.sum(steps[capacity.rates_bps < bps]))


def test_a_stall_ends_at_its_row_and_is_no_gap(tmp_path: Path) -> None:
    trace = read_trace(log(tmp_path, drive({40: (13.4, 0.00082)})))
    assert below(trace, 20e3) == pytest.approx(13.4)
    capacity = trace.capacity
    assert capacity is not None
    assert capacity.period_s == pytest.approx(119 + 13.4)
    assert float(capacity.rate_at(41.0)) == pytest.approx(820)
    assert float(capacity.rate_at(53.3)) == pytest.approx(820)
    assert [finding.code for finding in trace.findings] == ["tiny_capacity"]
    assert "each rate since the row before" in trace.understood


@pytest.mark.parametrize("start", [0.0, 1.0, 7200.0])
def test_the_first_row_lasts_as_long_as_the_clock_shows_or_a_usual_step(tmp_path: Path, start: float) -> None:
    trace = read_trace(log(tmp_path, drive({30: (9.7, 0.0009), 70: (17.2, 0.0009)}, start=start)))
    assert below(trace, 100e3) == pytest.approx(26.9)
    assert trace.capacity is not None
    assert trace.capacity.period_s == pytest.approx((118 if start else 117) + 26.9)


def test_a_long_stall_is_one_where_its_row_brings_some_bytes(tmp_path: Path) -> None:
    trace = read_trace(log(tmp_path, drive({60: (1000.0, 0.0005)})))
    assert below(trace, 20e3) == pytest.approx(1000)


@pytest.mark.parametrize("mbps", [0.2, 0.0])
def test_a_long_step_may_be_another_recording(tmp_path: Path, mbps: float) -> None:
    with pytest.raises(InputError, match="line 61 comes 1000 s after the one before it, perhaps in another recording"):
        read_trace(log(tmp_path, drive({60: (1000.0, mbps)})))


def test_low_rates_before_long_steps_hold_after_their_rows(tmp_path: Path) -> None:
    rows = [(float(time), 2.0 + time % 3) for time in range(100) if not 20 < time < 40 and not 60 < time < 75]
    rows = [(time, 0.001 if time in (20, 60) else mbps) for time, mbps in rows]
    trace = read_trace(log(tmp_path, rows))
    assert below(trace, 20e3) == 20 + 15
    assert "until the next row" in trace.understood


CHANGES = [(0.0, 1.0), (10.0, 2.2), (11.0, 3.0), (60.0, 1.0), (61.0, 2.5)]


def test_uneven_steps_that_show_nothing_are_refused_with_both_readings(tmp_path: Path) -> None:
    path = log(tmp_path, CHANGES)
    for repair in (False, True):
        with pytest.raises(InputError) as refusal:
            read_trace(path, repair=repair)
        message = str(refusal.value)
        assert message.startswith(f"{path}: the steps between its rows are uneven")
        assert "line 4 comes 49 s after the one before it" in message
        assert "\n  --rate-holds before: a rate belongs to the time before its row; mean 1.2" in message
        assert "\n  --rate-holds after: a rate holds until the next row; mean 2.6" in message


def test_a_statement_decides(tmp_path: Path) -> None:
    path = log(tmp_path, CHANGES)
    assert read_trace(path, reading=BEFORE).capacity == CapacityTrace([0, 10, 11, 60], [2.2e6, 3e6, 1e6, 2.5e6], 61)
    after = read_trace(path, reading=AFTER).capacity
    assert after is not None
    assert after.times_s.tolist() == [0, 10, 11, 60, 61]
    assert after.rates_bps.tolist() == [1e6, 2.2e6, 3e6, 1e6, 2.5e6]
    csv = tmp_path / "own.csv"
    csv.write_text("time_s,rate_bps\n1,1000000\n2,2000000\n20,1000\n21,2000000\n")
    stated = read_trace(csv, reading=BEFORE)
    assert stated.capacity == CapacityTrace([0, 1, 2, 20], [1e6, 2e6, 1e3, 2e6], 21)
    # Nothing is missing between rows that a user has explained.
    rows = [(float(time), 1.0) for time in [*range(10), *range(20, 30)]]
    assert read_trace(log(tmp_path, rows), reading=AFTER).findings == []


def test_even_steps_are_one_trace_on_either_side(tmp_path: Path) -> None:
    path = log(tmp_path, drive({}))
    both = [read_trace(path, reading=reading).capacity for reading in (BEFORE, AFTER)]
    assert both[0] == both[1] == read_trace(path).capacity


def test_steps_that_hardly_differ_are_read(tmp_path: Path) -> None:
    rng = random.Random(2)
    rows = [(time + rng.uniform(-0.1, 0.1), mbps) for time, mbps in drive({})]
    trace = read_trace(log(tmp_path, rows))
    assert "until the next row" in trace.understood
    assert [finding.code for finding in trace.findings] == ["shifted"]


def test_uneven_steps_that_hardly_matter_are_shown(tmp_path: Path) -> None:
    rows = drive({index: (1.6 + index % 2 / 2, 1.0) for index in range(10, 80, 3)})
    trace = read_trace(log(tmp_path, rows))
    assert "until the next row" in trace.understood
    assert [finding.code for finding in trace.findings] == ["uneven", "shifted"]
    assert "Mbps with --rate-holds before" in trace.findings[0].message


def test_changes_at_random_times_are_never_taken_for_stalls() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        times = np.cumsum(rng.exponential(5, 40) + 0.05)
        with suppress(InputError):
            assert side_of_rates(times, rng.lognormal(0, 1, 40) * 1e6, "x", ["row"] * 40).holds == "after"


def test_a_gap_in_own_csv_offers_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    rows = [f"{time},1000000\n" for time in [*range(10), *range(20, 30)]]
    path.write_text("time_s,rate_bps\n" + "".join(rows))
    gap = inspect_trace(path).errors[0]
    assert gap.code == "gap"
    repair = "this entry's rate holds until the next sample (--rate-holds before: the next entry's; step: none)"
    assert gap.repair == repair


def test_own_csv_with_rates_of_stalls_is_not_filled(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    rows = drive({40: (13.4, 0.00082)})
    path.write_text("time_s,rate_mbps\n" + "".join(f"{time},{mbps}\n" for time, mbps in rows))
    with pytest.raises(
        InputError, match=r"its rates look measured over the time before their rows; line 42 comes 13\.4 s"
    ):
        read_trace(path, repair=True)
    assert below(read_trace(path, reading=BEFORE), 20e3) == pytest.approx(13.4)
    # With an end, rates hold until the next row.
    path.write_text(path.read_text() + f"{rows[-1][0] + 1},\n")
    assert [finding.code for finding in inspect_trace(path).errors] == ["gap"]


def test_one_row_has_no_time_before_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one row alone has no time before it"):
        read_trace(log(tmp_path, [(0.0, 1.0)]), reading=BEFORE)
