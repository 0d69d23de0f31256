"""Packets counted in bins, where a bin without a packet has no row: it has no capacity, or the file is refused."""

import os
import random
from pathlib import Path

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.importers import inspect_trace, read_trace
from weir_traces.formats.reading import Reading
from weir_traces.formats.summary import understood
from weir_traces.formats.units import BYTES_SINCE

STEP = Reading(rate_holds="step")


def packets_in_bins(count: int, mean: int, longest_stop: int = 2) -> list[int]:
    """Packets in each bin; stops of 1 to `longest_stop` bins. The first and the last bin have packets."""
    chance = random.Random(7)
    found, level = [mean], float(mean)
    while len(found) < count - 1:
        if chance.random() < 0.1 / longest_stop:
            found += [0] * chance.randint(1, longest_stop)
        else:
            level = min(3 * mean, max(mean / 5, level * chance.uniform(0.75, 1.33)))
            found.append(max(1, int(level)))
    return [*found[: count - 1], mean]


def rows(packets: list[int], bin_s: float, unit_bps: float, size: int = 1500, form: str = "{:.3f} {:.10g}\n") -> str:
    filled = ((index, number) for index, number in enumerate(packets) if number)
    return "".join(form.format((index + 1) * bin_s, number * size * 8 / bin_s / unit_bps) for index, number in filled)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "bins.txt"
    path.write_text(text)
    return path


def check(trace: ImportedTrace, packets: list[int], bin_s: float, size: int = 1500) -> None:
    bits = np.array(packets) * size * 8
    summary = understood(trace)
    assert summary is not None
    assert summary.length_s == pytest.approx(len(packets) * bin_s, rel=1e-3)
    assert summary.mean_bps == pytest.approx(bits.sum() / (len(packets) * bin_s), rel=2e-3)
    assert summary.low_s == pytest.approx(np.count_nonzero(bits / bin_s < 100e3) * bin_s, rel=2e-3)


@pytest.mark.parametrize("longest_stop", [2, 25])
@pytest.mark.parametrize(
    ("bin_s", "mean", "unit_bps", "size", "header", "form"),
    [
        (0.2, 20, 1e6, 1500, "", "{:g} {:g}\n"),
        (0.2, 3, 1e6, 1500, "", "{:g} {:g}\n"),
        (0.1, 10, 1e6, 1500, "time,Mbps\n", "{:.1f},{:.4f}\n"),
        (1.0, 300, 1e3, 1400, "timestamp,kbps\n", "{:.0f},{:.6g}\n"),
        (1 / 30, 5, 1e6, 1500, "", "{:.3f} {:.3f}\n"),
        (0.5, 12, 1e6, 1200, "t,throughput_mbps\n", "{:.1f},{:.4f}\n"),
    ],
)
def test_counted_bins_without_a_row_have_no_capacity(
    tmp_path: Path, bin_s: float, mean: int, unit_bps: float, size: int, header: str, form: str, longest_stop: int
) -> None:
    packets = packets_in_bins(1200, mean, longest_stop)
    trace = read_trace(write(tmp_path, header + rows(packets, bin_s, unit_bps, size, form)))
    check(trace, packets, bin_s, size)
    empty = next(finding for finding in trace.findings if finding.code == "empty_bins")
    assert f"of {size} bytes in bins of" in empty.message
    assert f"{packets.count(0)} bins have no row" in empty.message


def test_bytes_in_bins_have_no_capacity_without_a_row(tmp_path: Path) -> None:
    packets = packets_in_bins(600, 20)
    text = "".join(f"{(index + 1) / 5:g} {1500 * number}\n" for index, number in enumerate(packets) if number)
    reading = Reading(time_unit_s=1.0, rate_unit=BYTES_SINCE)
    check(read_trace(write(tmp_path, text), reading=reading), packets, 0.2)


def test_rates_of_packets_of_all_sizes_are_refused_with_three_readings(tmp_path: Path) -> None:
    chance = random.Random(3)
    packets = packets_in_bins(600, 20)
    bits = [8 * sum(chance.randint(60, 1500) for _ in range(number)) for number in packets]
    text = "".join(f"{(k + 1) / 5:.1f} {number / 0.2 / 1e6:.4f}\n" for k, number in enumerate(bits) if number)
    path = write(tmp_path, text)
    with pytest.raises(InputError) as refusal:
        read_trace(path)
    message = str(refusal.value)
    assert "a row may be missing because nothing arrived" in message
    low_s = sum(number / 0.2 < 100e3 for number in bits) / 5
    mean = f"mean {sum(bits) / 120 / 1e6:.4g} Mbps, {low_s:.4g} s below 100 kbps"
    assert f"--rate-holds step: a rate holds for 0.2 s, and nothing arrives without a row; {mean}" in message
    summary = understood(read_trace(path, reading=STEP))
    assert summary is not None
    assert (summary.length_s, summary.low_s) == (pytest.approx(120), pytest.approx(low_s))
    assert summary.mean_bps == pytest.approx(sum(bits) / 120, rel=1e-3)


def test_own_csv_with_rates_of_counted_packets_is_refused_with_three_readings(tmp_path: Path) -> None:
    packets = packets_in_bins(600, 20)
    path = write(tmp_path, "time_s,rate_mbps\n" + rows(packets, 0.2, 1e6, form="{:.1f},{:g}\n"))
    with pytest.raises(InputError, match="packets counted in bins, and a bin without a packet has no row"):
        read_trace(path)
    check(read_trace(path, reading=STEP), packets, 0.2)


def test_a_stated_side_is_followed(tmp_path: Path) -> None:
    path = write(tmp_path, rows(packets_in_bins(600, 20), 0.2, 1e6))
    trace = read_trace(path, reading=Reading(rate_holds="after"))
    assert "until the next row" in trace.understood
    assert not any(finding.code == "empty_bins" for finding in trace.findings)


def test_a_list_of_changes_on_a_grid_is_no_list_of_bins(tmp_path: Path) -> None:
    # Rows of equal rates are omitted, and rates change slowly.
    levels = [20 + k // 3 % 5 for k in range(300)]
    text = "".join(
        f"{k / 5:.1f} {0.06 * level:g}\n" for k, level in enumerate(levels) if k == 0 or level != levels[k - 1]
    )
    trace = read_trace(write(tmp_path, text))
    assert not any(finding.code == "empty_bins" for finding in trace.findings)
    assert trace.capacity is not None
    assert np.all(trace.capacity.rates_bps > 1e6)


@pytest.mark.parametrize(("period_s", "jitter_s"), [(1.02, 0.0), (1.0, 0.05), (1.05, 0.1)])
def test_a_logger_that_is_slower_than_its_stamps_has_no_empty_bins(
    tmp_path: Path, period_s: float, jitter_s: float
) -> None:
    chance = random.Random(5)
    time_s, text = 1.7e9, "time,mbps\n"
    for _ in range(400):
        time_s += period_s + chance.uniform(0, jitter_s)
        text += f"{int(time_s)},{chance.choice((3.0, 3.6, 4.2, 4.8)):.2f}\n"
    trace = read_trace(write(tmp_path, text))
    assert "until the next row" in trace.understood


def test_rows_of_zero_leave_no_bin_empty(tmp_path: Path) -> None:
    packets = packets_in_bins(600, 20)
    text = rows(packets, 0.2, 1e6)
    first_empty = (packets.index(0) + 1) / 5
    lines = [*text.splitlines(), f"{first_empty:.3f} 0"]
    path = write(tmp_path, "\n".join(sorted(lines, key=lambda line: float(line.split()[0]))) + "\n")
    findings = inspect_trace(path).findings
    assert not any(finding.code == "empty_bins" for finding in findings)


def test_one_row_has_no_step(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one row alone shows no step"):
        read_trace(write(tmp_path, "0 1.5\n"), reading=STEP)


def test_the_case_of_counted_bins() -> None:
    if not (shared := os.environ.get("WEIR_SHARED")):
        pytest.skip("WEIR_SHARED is not set: no cases to read")
    summary = understood(read_trace(Path(shared) / "cases/everyday/grid_with_holes/short.txt"))
    assert summary is not None
    assert summary.mean_bps == pytest.approx(2.079e6, rel=1e-3)
    assert (summary.low_s, summary.length_s) == (pytest.approx(43.2), pytest.approx(300))
