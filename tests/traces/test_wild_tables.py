"""Tables as the programs of others write them: what they mean, or the doubt with the options that remove it."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.importers import read_trace
from weir_traces.reading_options import ReadingArguments
from weir_traces.schema.capacity import CapacityTrace

EPOCH = 1_700_000_000
RATES = [round(4 + 3 * np.sin(row / 4), 2) for row in range(80)]
TRACE = CapacityTrace(np.arange(80.0), np.array(RATES) * 1e6, 80.0)


def read(tmp_path: Path, content: str | bytes, **stated) -> ImportedTrace:
    path = tmp_path / "trace.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_trace(path, reading=ReadingArguments(**stated).reading())


def refused(tmp_path: Path, content: str | bytes, **stated) -> str:
    with pytest.raises(InputError) as refusal:
        read(tmp_path, content, **stated)
    return str(refusal.value)


def table(times, numbers=RATES, header: str = "", separator: str = ",") -> str:
    rows = (f"{time}{separator}{number}\n" for time, number in zip(times, numbers, strict=True))
    return (header + "\n" if header else "") + "".join(rows)


def digits(start_s: int, count: int = 80, form: str = "{:02}{:02}{:02}") -> list[str]:
    seconds = [(start_s + row) % 86_400 for row in range(count)]
    return [form.format(second // 3600, second // 60 % 60, second % 60) for second in seconds]


QUARTER_TO_TWO = 13 * 3600 + 46 * 60 + 17


@pytest.mark.parametrize("header", ["time,Mbps", "Time (HHMMSS),Mbps", "hhmmss,DL_Mbps", "UTC time;throughput_mbps"])
def test_times_of_day_in_digits(tmp_path: Path, header: str) -> None:
    separator = ";" if ";" in header else ","
    assert read(tmp_path, table(digits(QUARTER_TO_TWO), RATES, header, separator)).capacity == TRACE
    # Past midnight, without the zeros that a spreadsheet removes, with the fractions of GPS receivers.
    late = [int(cell) for cell in digits(86_400 - 40)]
    assert read(tmp_path, table(late, RATES, header, separator)).capacity == TRACE
    gps = digits(QUARTER_TO_TWO, form="{:02}{:02}{:02}.00")
    assert read(tmp_path, table(gps, RATES, header, separator)).capacity == TRACE


def test_times_of_day_in_digits_without_a_header(tmp_path: Path) -> None:
    text = table(digits(QUARTER_TO_TWO), separator=" ")
    assert "the rates have no unit; add --unit UNIT" in refused(tmp_path, text)
    assert read(tmp_path, text, unit="Mbps").capacity == TRACE


def test_digits_that_may_be_seconds_are_refused_with_both_readings(tmp_path: Path) -> None:
    kept = [row for row in range(80) if row not in (42, 43, 44, 45)]
    times = digits(QUARTER_TO_TWO)
    text = table([times[row] for row in kept], [RATES[row] for row in kept], "time,Mbps")
    message = refused(tmp_path, text)
    assert "  seconds: add --unit s\n  times of day: write them with colons, as 13:46:59" in message
    assert "the next sample is 45 s away, the usual step is 1 s" in refused(tmp_path, text, unit="s")


@pytest.mark.parametrize("step", [1, 2, 5])
def test_seconds_are_no_digits_of_a_clock(tmp_path: Path, step: int) -> None:
    trace = read(tmp_path, table(range(0, 80 * step, step), header="time,Mbps"))
    assert trace.capacity is not None
    assert trace.capacity.period_s == 80 * step


def test_one_minute_in_digits_is_the_same_both_ways(tmp_path: Path) -> None:
    trace = read(tmp_path, table(digits(QUARTER_TO_TWO, 40), RATES[:40], "time,Mbps"))
    assert trace.capacity == CapacityTrace(np.arange(40.0), np.array(RATES[:40]) * 1e6, 40.0)


CLOCK = [f"10:{row // 60:02}:{row % 60:02}" for row in range(80)]
KBPS = [f"{1e3 * rate:.18e}" for rate in RATES]
QUOTED = [f'"{rate}"' for rate in RATES]


@pytest.mark.parametrize(
    "text",
    [
        # Quotes, with and without a header; row numbers of R; a separator at the end of each row; others in names.
        table([f'"{row}"' for row in range(80)], QUOTED, '"time_s","Mbps"'),
        table([f'"{row}"' for row in range(80)], QUOTED),
        table([f'"{row}" {row}' for row in range(80)], RATES, '"time_s" "rate_mbps"', " "),
        table(range(80), [f"{rate}," for rate in RATES], "time_s,rate_mbps"),
        table(range(80), RATES, "Time (s);Throughput, avg (Mbps)", ";"),
        table(range(80), RATES, "time_s|rate_mbps", "|"),
        # A header in a comment, as of NumPy.
        table(range(80), KBPS, "# time_s rate_kbps", " "),
        table(range(80), KBPS, "# drive 5\n#\n# time (s), rate (kbps)", " "),
        table(range(80), [1e3 * rate for rate in RATES], "#time,kbps"),
        table(range(80), RATES, "# seconds Mbps", " "),
        table(range(80), RATES, "# recorded in a car", " "),
        table(range(80), [rate * 1e6 / 8192 for rate in RATES], "time_s,speed (KiB/s)"),
        table([f"20240229_10{row // 60:02}{row % 60:02}" for row in range(80)], RATES, "time,Mbps"),
        table([f"20240229T10{row // 60:02}{row % 60:02}Z" for row in range(80)], RATES, "time,Mbps"),
        # As date, syslog, mail and spreadsheets write them; one date has day and month in any order.
        table([f"Thu Feb 29 {clock} UTC 2024" for clock in CLOCK], RATES, "Time,RATE(MBit/s)"),
        table([f"Thu Feb 29 {clock} 2024" for clock in CLOCK], RATES, "time,Mbps"),
        table([f"Thu, 29 Feb 2024 {clock} +0100" for clock in CLOCK], RATES, "time;Mbps", ";"),
        table([f"Feb  9 {clock}" for clock in CLOCK], RATES, "time,Mbps"),
        table([f"9-Feb-2024 {clock}" for clock in CLOCK], RATES, "time,Mbps"),
        table([f"02/03/2024 {clock}.000" for clock in CLOCK], RATES, "time,Mbps"),
        table([f'"2/29/2024, {clock} PM"' for clock in CLOCK], RATES, "time,Mbps"),
        table([f"{clock} am" for clock in CLOCK], RATES, "time,Mbps"),
        table(["12/01/2024 23:59:59", *(f"13/01/2024 00:{clock[3:]}" for clock in CLOCK[:79])], RATES, "time,Mbps"),
        "run_num,seq_num,nrStatus,Throughput\n" + "".join(f"3,{row},CONNECTED,{r}\n" for row, r in enumerate(RATES)),
    ],
)
def test_tables_that_leave_no_doubt(tmp_path: Path, text: str) -> None:
    capacity = read(tmp_path, text).capacity
    assert capacity is not None
    assert (capacity.times_s.tolist(), capacity.period_s) == (TRACE.times_s.tolist(), 80)
    assert capacity.rates_bps.tolist() == pytest.approx(TRACE.rates_bps.tolist())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # 5 to 75 kbps, which would be likely in Mbps.
        (table(range(80), [10 * rate for rate in RATES], "# time [s] and rate [kbps]", " "), "--unit s,kbps"),
        (table([1000 * (EPOCH + row) for row in range(80)], [100 * r for r in RATES], separator=" "), "--unit ms,Mbps"),
        (table([1000 * row for row in range(80)], [100 * rate for rate in RATES], separator=" "), "--unit ms,Mbps"),
        (table([10**9 * (1 + row) for row in range(80)], header="timestamp,Mbps"), "state their unit: --unit ms, us"),
        (
            "time,Mbps\n3/4/2024 23:59:59,5\n4/4/2024 00:00:00,5\n",
            "the day or the month first; write them",
        ),
        ("time,Mbps\nJun 31 23:59:59,5\nJul 1 00:00:00,5\n", "it must be a date with a time"),
        ("# Mbps\n" + "".join(f"{rate}\n" for rate in RATES), "add --time-column NAME, or --step SECONDS"),
        ("".join(f"{rate}\n" for rate in RATES).replace(".", ","), "one number a row, and they do not rise"),
        (b"PK\x03\x04rest", "a zip archive or a spreadsheet; unpack it, or save the sheet as CSV"),
        (b"\xd4\xc3\xb2\xa1rest", "give that with --unit s,bytes: tshark -r FILE -T fields"),
        (b"\xfd7zXZ\x00rest", "packed with xz; unpack it"),
        ("run_num,seq_num,nrStatus,Throughput\n3,0,C,5\n4,0,C,5\n", "line 3: another run_num begins"),
    ],
)
def test_doubt_is_refused_with_the_way_to_read_the_file(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert message in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (table(range(80), header="time_ms,rate_mbps"), "the usual step is 1 ms; if the times are seconds, name the"),
        (table([1_050_000_000 + 1000 * row for row in range(80)], header="timestamp,Mbps"), "do not count from 1970"),
        (table(range(80), [1e6 * rate for rate in RATES], "time_s,rate_kbps"), "if the numbers are bit/s, divide"),
        (table(range(80), ["--", *RATES[1:]], "time,rate_mbps"), "1 rows have no rate"),
    ],
)
def test_unlikely_readings_are_warnings(tmp_path: Path, text: str, warning: str) -> None:
    assert warning in " ".join(finding.message for finding in read(tmp_path, text).findings)


def test_rates_with_decimal_commas_in_one_column(tmp_path: Path) -> None:
    text = "".join(f"{rate:.2f}\n" for rate in RATES).replace(".", ",")
    assert read(tmp_path, text, step=1.0, unit="Mbps").capacity == TRACE
    # Whole parts that rise may be times.
    rising = "".join(f"{row},5\n" for row in range(1, 20))
    assert "1,5 is a rate with a decimal comma, or two columns" in refused(tmp_path, rising, step=1.0, unit="Mbps")
    trace = read(tmp_path, rising, step=1.0, unit="Mbps", rate_column="1")
    assert trace.capacity is not None
    assert trace.capacity.mean_bps() == 10e6


def test_a_unit_beside_each_number(tmp_path: Path) -> None:
    text = "".join(f"{rate}Mbps\n" for rate in RATES)
    assert "80 rates without times" in refused(tmp_path, text)
    assert read(tmp_path, text, step=1.0).capacity == TRACE


@pytest.mark.parametrize(("unit", "per_s"), [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_times_of_deliveries_in_the_unit_stated(tmp_path: Path, unit: str, per_s: float) -> None:
    times = [per_s * 3e-3 * number for number in range(1, 2001)]
    text = "".join(f"{time:.6f}\n" if unit == "s" else f"{time:.0f}\n" for time in times)
    trace = read(tmp_path, text, unit=unit)
    assert trace.capacity is not None
    assert (trace.capacity.period_s, trace.capacity.mean_bps()) == (6, pytest.approx(4e6))


def test_long_captures_in_seconds_are_no_milliseconds(tmp_path: Path) -> None:
    text = "".join(f"{0.003 * number:.4f}\n" for number in range(1, 400_000))
    assert "  --unit s: the same in seconds, mean 4 Mbps" in refused(tmp_path, text)


BYTES = [round(rate * 125_000) for rate in RATES]


def test_a_counter_of_all_bytes(tmp_path: Path) -> None:
    total = np.cumsum([0, *BYTES]).tolist()
    text = table(range(81), total, "time_s,rx_bytes")
    assert read(tmp_path, text, rate_column="rx_bytes", unit="total-bytes").capacity == TRACE
    trace = read(tmp_path, text, rate_column="rx_bytes", unit="bytes")
    assert "if they are all bytes so far, add --unit total-bytes" in trace.findings[0].message
    column = "".join(f"{number}\n" for number in total)
    assert read(tmp_path, column, step=1.0, unit="total-bytes").capacity == TRACE
    assert "a counter alone has no bytes" in refused(tmp_path, "5\n", step=1.0, unit="total-bytes")


@pytest.mark.parametrize("start", [0, EPOCH])
def test_packets_of_a_capture_are_averaged(tmp_path: Path, start: int) -> None:
    """Bursts of a fast first link have rates of their own, which are not the bottleneck's."""
    chance, rows, time_s = random.Random(3), [], 0.0
    while time_s < 20:
        burst = chance.choice((1, 2, 3))
        rows += [f"{start + time_s:.6f}\t1500\n"] * burst
        time_s += burst * 0.003
    trace = read(tmp_path, "".join(rows), unit="s,bytes")
    capacity = trace.capacity
    assert capacity is not None
    assert capacity.mean_bps() == pytest.approx(4e6, rel=0.01)
    assert np.all(np.abs(capacity.rates_bps - 4e6) < 0.5e6)
    assert "in windows of 200 ms" in trace.understood
    assert "their bytes are added" in " ".join(finding.message for finding in trace.findings)


def test_rows_that_have_how_long_they_last(tmp_path: Path) -> None:
    capacity = CapacityTrace([0, 2, 2.5], [1.5e6, 0.9e6, 2e6], 3.5)
    text = "timeframe,rul,rdl\n2000,-1,1500\n500,-1,900\n1000,-1,2000\n"
    assert read(tmp_path, text, time_column="timeframe", rate_column="rdl", unit="ms,kbps").capacity == capacity
    entries = json.dumps([{"mbps": 1.5, "duration": 2}, {"mbps": 0.9, "duration": 0.5}, {"mbps": 2, "duration": 1}])
    assert "even step; --time-column duration: how long each lasts" in refused(tmp_path, entries)
    message = refused(tmp_path, entries, time_column="duration")
    assert "has no unit of duration: add --unit UNIT, such as s or ms,kbps" in message
    assert read(tmp_path, entries, time_column="duration", unit="s").capacity == capacity
    text = "duration_ms,received\n2000,375000\n500,56250\n1000,250000\n"
    assert read(tmp_path, text, time_column="1", rate_column="received", unit="bytes").capacity == capacity


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("2,1.5\n0,9\n", "line 3: it lasts 0 s or less"),
        ("2,1.5\n1,\n", "line 3: Mbps is ''; it must be a finite number"),
        ("1,5\n2,5\n3,5\n", "the durations rise throughout, as times do"),
    ],
)
def test_durations_that_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    assert message in refused(tmp_path, "duration_s,Mbps\n" + rows, time_column="duration_s")


def test_tables_in_json(tmp_path: Path) -> None:
    columns = {"name": "drive 5", "timestamps": list(range(80)), "bandwidths": RATES, "delays": [50], "loss": 0.01}
    text = json.dumps(columns, indent=4)
    assert "add --rate-column NAME and, unless its name has it, --unit UNIT" in refused(tmp_path, text)
    assert read(tmp_path, text, rate_column="bandwidths", unit="Mbps").capacity == TRACE
    entries = [{"t": row, "dl_mbps": rate, "at": {"lat": 60}} for row, rate in enumerate(RATES)]
    assert read(tmp_path, json.dumps(entries)).capacity == TRACE
    entries[7]["dl_mbps"] = 0.005
    (finding,) = read(tmp_path, json.dumps(entries)).findings
    assert finding.position == "entry 7"
    entries[7]["dl_mbps"] = "fast"
    assert "entry 7: dl_mbps is 'fast'; it must be a finite number" in refused(tmp_path, json.dumps(entries))


@pytest.mark.parametrize(
    "data",
    [{"0": [1, 2], "1": [3, 4]}, {"#a": [1, 2], "b": [3, 4]}, {"a": [1], "b": [2]}, {"a": [1, 2], "b": [[3], 4]},
     [1, 2], [{"a": 1}, {"a": 2}], [{}, {}], {"a;b": [1, 2], "c": [3, 4]}],
)  # fmt: skip
def test_json_that_is_no_table(tmp_path: Path, data: object) -> None:
    assert "JSON, but neither a scenario" in refused(tmp_path, json.dumps(data))
