"""One number a row: Mahimahi's times, or rates, which are never read as times without a statement."""

import os
import random
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.formats.convert import to_scenario
from weir_traces.formats.importers import read_trace
from weir_traces.formats.reading import Reading
from weir_traces.formats.units import RateUnit
from weir_traces.schema.capacity import CapacityTrace

KBPS, MBPS = RateUnit(1e3), RateUnit(1e6)
_RANDOM = random.Random(3)
RATES = [_RANDOM.uniform(100, 900) for _ in range(200)]


def column(tmp_path: Path, numbers: list[float | str]) -> Path:
    path = tmp_path / "capture.txt"
    path.write_text("".join(f"{number}\n" for number in numbers))
    return path


@pytest.mark.parametrize(
    ("numbers", "fault"),
    [
        ([f"{rate:.2f}" for rate in RATES], "they do not rise"),
        ([round(rate) for rate in RATES], "they do not rise"),
        ([round(rate * 1e6) for rate in RATES], "they do not rise"),
        ([90_000_000, 3_000_000, 95_000_000, 40_000_000], "they do not rise"),
        ([5.5], "they have fractions"),
        ([1.5, 2.5, 3.0, 4.25], "they have fractions"),
        ([731, 731, 731], "they are all equal"),
        ([5, 6, 6, 7, 8, 9, 10], "they are few and begin late"),
        (list(range(100, 440, 20)), "they are few and begin late"),
        ([500, 1000, 1500, 2000], "as times they would be no plausible rate"),
        ([100_000, 200_000, 300_000], "as times they would be no plausible rate"),
    ],
)
def test_rates_are_not_read_as_times(tmp_path: Path, numbers: list[float | str], fault: str) -> None:
    path = column(tmp_path, numbers)
    with pytest.raises(InputError) as refusal:
        read_trace(path, repair=True)
    message = str(refusal.value)
    assert message.startswith(f"{path}: one number a row, and {fault}; choose what they are:")
    assert f"\n  --step SECONDS --unit UNIT: {len(numbers)} rates, each for a step, mean " in message
    assert "\n  --unit ms: times of Mahimahi's deliveries, mean " in message


@pytest.mark.parametrize(
    "numbers",
    [
        list(range(12)),
        list(range(1, 13)),
        [1, 1, 1, 2, 2, 2],
        # As Weir writes 10.9 and 2.4 Mbps, and as a file of 1 Mbps is written.
        [2, 3, 4, 5, 6, 7],
        [5, 10, 15, 20],
        [12],
    ],
)
def test_few_deliveries_that_begin_near_0_are_read(tmp_path: Path, numbers: list[float | str]) -> None:
    trace = read_trace(column(tmp_path, numbers))
    assert trace.format == "mahimahi"
    assert trace.capacity is not None
    assert trace.capacity.mean_bps() == pytest.approx(len(numbers) * 12e6 / float(numbers[-1]))


def test_few_that_begin_late_are_deliveries_where_it_is_stated(tmp_path: Path) -> None:
    trace = read_trace(column(tmp_path, [5, 6, 6, 7, 8, 9, 10]), reading=Reading(time_unit_s=1e-3))
    assert trace.capacity == CapacityTrace([0], [8.4e6], 0.01)


@pytest.mark.parametrize("name", ["ATT-LTE-driving.up", "TMobile-UMTS-driving.up", "Verizon-EVDO-driving.down"])
def test_mahimahis_own_traces_are_deliveries(name: str) -> None:
    if not (shared := os.environ.get("WEIR_SHARED")):
        pytest.skip("needs Mahimahi's traces, in WEIR_SHARED")
    assert read_trace(Path(shared) / "traces" / "mahimahi" / name).format == "mahimahi"


@pytest.mark.parametrize("unit", [KBPS, MBPS])
def test_rates_have_the_mean_of_the_column_at_the_step_stated(tmp_path: Path, unit: RateUnit) -> None:
    trace = read_trace(column(tmp_path, RATES), reading=Reading(step_s=0.5, rate_unit=unit))
    assert trace.format == "rates"
    assert trace.capacity is not None
    assert trace.capacity.period_s == 100
    assert trace.capacity.mean_bps() == pytest.approx(sum(RATES) / len(RATES) * unit.bps)


def test_both_statements_are_needed(tmp_path: Path) -> None:
    path = column(tmp_path, RATES)
    with pytest.raises(InputError, match=r"200 rates without times, mean \d+\.\d Mbps; add --step SECONDS"):
        read_trace(path, reading=Reading(rate_unit=MBPS))
    with pytest.raises(InputError, match="--step: the rates have no unit; add --unit UNIT"):
        read_trace(path, reading=Reading(step_s=1))


def test_times_that_are_stated_are_times(tmp_path: Path) -> None:
    trace = read_trace(column(tmp_path, RATES), reading=Reading(time_unit_s=1e-3))
    assert trace.format == "mahimahi"
    assert {"unsorted", "fractions"} <= {finding.code for finding in trace.findings}


def test_a_capture_with_fractions_is_read_with_a_warning(tmp_path: Path) -> None:
    trace = read_trace(column(tmp_path, ["10.2", "20.75", "30.", *map(str, range(40, 1300, 10))]))
    assert trace.format == "mahimahi"
    assert [finding.located() for finding in trace.findings] == [
        "line 1: warning (fractions): times have fractions, which are cut"
    ]


def test_rows_with_a_unit_each(tmp_path: Path) -> None:
    path = column(tmp_path, ["3.97,Mbits/sec", "791,Kbits/sec", "0.00,bits/sec"])
    with pytest.raises(
        InputError, match=r"3 rates without times, mean 1\.587 Mbps; add --step SECONDS.*1 for NYU-METS"
    ):
        read_trace(path)
    trace = read_trace(path, reading=Reading(step_s=1))
    assert trace.capacity == CapacityTrace([0, 1, 2], [3.97e6, 791e3, 0], 3)
    with pytest.raises(InputError, match="each row has its unit; omit --unit"):
        read_trace(path, reading=Reading(step_s=1, rate_unit=MBPS))
    with pytest.raises(InputError, match="line 2: '5': some rows have a unit and some none"):
        read_trace(column(tmp_path, ["3.97,Mbits/sec", "5"]), reading=Reading(step_s=1))


def test_a_short_period_repeats_for_a_usable_time(tmp_path: Path) -> None:
    trace = read_trace(column(tmp_path, list(range(1, 13))))
    assert trace.capacity == CapacityTrace([0], [12e6], 0.012)
    scenario = to_scenario(trace)
    assert scenario.duration_s == 60
    assert scenario.forward.capacity is not None
    assert float(scenario.forward.capacity.trace().integrate(0, 60)) == pytest.approx(12e6 * 60)
    assert to_scenario(trace, duration_s=7).duration_s == 7
    longer = read_trace(column(tmp_path, list(range(10, 20_010, 10))))
    assert to_scenario(longer).duration_s == 20
