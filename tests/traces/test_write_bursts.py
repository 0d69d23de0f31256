"""Rows with the time at which a buffered writer wrote them: refused with the step at which they are even."""

import os
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_traces.formats.importers import read_trace
from weir_traces.formats.summary import understood
from weir_traces.formats.tables.write_bursts import refuse_bursts
from weir_traces.reading_options import ReadingArguments

BEGIN = datetime(2026, 1, 5, 10)
STAMPS: dict[str, Callable[[float], str]] = {
    "microseconds": lambda time_s: (BEGIN + timedelta(seconds=time_s)).isoformat(timespec="microseconds"),
    "whole seconds": lambda time_s: (BEGIN + timedelta(seconds=time_s)).strftime("%Y-%m-%d %H:%M:%S"),
    "time of day": lambda time_s: (BEGIN + timedelta(seconds=time_s)).strftime("%H:%M:%S"),
    "ms since 1970": lambda time_s: f"{1_767_607_200_000 + 1e3 * time_s:.0f}",
    "seconds": lambda time_s: f"{time_s:.6f}",
}
RATES = [round(random.Random(row).uniform(5, 90), 2) for row in range(240)]


def bursts(stamp: Callable[[float], str], per_burst: int, step_s: float) -> str:
    text = "time (s),mbps\n" if stamp is STAMPS["seconds"] else "time,mbps\n"
    for row, rate in enumerate(RATES):
        written_s = (row // per_burst + 1) * per_burst * step_s + row % per_burst * 4e-5
        text += f"{stamp(written_s)},{rate}\n"
    return text


@pytest.mark.parametrize("kind", STAMPS)
@pytest.mark.parametrize(("per_burst", "step_s"), [(48, 0.5), (10, 1.0), (60, 0.2)])
def test_rows_in_bursts_are_refused_with_their_step(tmp_path: Path, kind: str, per_burst: int, step_s: float) -> None:
    path = tmp_path / "log.csv"
    path.write_text(bursts(STAMPS[kind], per_burst, step_s))
    with pytest.raises(InputError) as refusal:
        read_trace(path, repair=True)
    message = str(refusal.value)
    assert f"the rows come in bursts of {per_burst}, as if stamped by a buffered writer" in message
    assert f"line {per_burst + 2} comes {per_burst * step_s:g} s after" in message
    assert f"\n  --step {step_s:g}: " in message
    summary = understood(read_trace(path, reading=ReadingArguments(step=step_s).reading()))
    assert summary is not None
    assert summary.length_s == pytest.approx(240 * step_s)
    assert summary.mean_bps == pytest.approx(1e6 * np.mean(RATES))


def test_a_statement_that_times_are_right_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(bursts(STAMPS["microseconds"], 48, 0.5))
    assert "until the next row" in read_trace(path, reading=ReadingArguments(rate_holds="after").reading()).understood


def test_a_counter_in_bursts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    total = np.cumsum([1000 * rate for rate in RATES]).astype(int)
    stamps = [line.partition(",")[0] for line in bursts(STAMPS["seconds"], 48, 0.5).splitlines()[1:]]
    path.write_text("time_s,rx\n" + "".join(f"{time},{count}\n" for time, count in zip(stamps, total, strict=True)))
    with pytest.raises(InputError, match=r"--step 0\.5"):
        read_trace(path, reading=ReadingArguments(rate_column="rx", unit="total-bytes").reading())


def test_several_rows_of_each_second_are_no_bursts(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    times = [(BEGIN + timedelta(seconds=row // 10)).isoformat() for row in range(240)]
    path.write_text("time,mbps\n" + "".join(f"{time},{rate}\n" for time, rate in zip(times, RATES, strict=True)))
    summary = understood(read_trace(path))
    assert summary is not None
    assert summary.length_s == 24
    assert summary.mean_bps == pytest.approx(1e6 * np.mean(RATES))


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_changes_at_random_times_are_no_bursts(sigma: float) -> None:
    for seed in range(50):
        times = np.cumsum(np.random.default_rng(seed).lognormal(0, sigma, 60))
        refuse_bursts(times, is_coarse=False, source="x", positions=["row"] * 60)


def test_the_case_of_rows_in_bursts() -> None:
    if not (shared := os.environ.get("WEIR_SHARED")):
        pytest.skip("WEIR_SHARED is not set: no cases to read")
    folder = Path(shared) / "cases/everyday/rows_in_bursts"
    with pytest.raises(InputError, match=r"\n  --step 0\.5: "):
        read_trace(folder / "rows.csv")
    found = read_trace(folder / "rows.csv", reading=ReadingArguments(step=0.5).reading())
    true = read_trace(folder / "truth.csv")
    assert found.capacity is not None
    assert found.capacity == true.capacity
