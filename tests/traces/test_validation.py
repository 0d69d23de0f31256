"""Faults of traces that parse: found with their place, refused, and repaired on request."""

import json
from pathlib import Path
from typing import Any

import pytest

from weir_cli.errors import InputError
from weir_traces.formats.importers import inspect_trace, read_trace
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.values_over_time import DelayOverTime, RatioOverTime


def opennetlab(tmp_path: Path, *entries: dict[str, Any], **more: Any) -> Path:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"uplink": {"trace_pattern": list(entries)}} | more))
    return path


def csv_file(tmp_path: Path, *rows: str, header: str = "time_s,rate_bps") -> Path:
    path = tmp_path / "trace.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def entry(capacity: float, duration: float = 200, **more: Any) -> dict[str, Any]:
    return {"capacity": capacity, "duration": duration} | more


def found(path: Path) -> list[tuple[str, str, str]]:
    return [(finding.code, finding.severity, finding.position) for finding in inspect_trace(path).findings]


def rates(path: Path) -> list[float]:
    capacity = read_trace(path, repair=True).capacity
    assert capacity is not None
    return capacity.rates_bps.tolist()


def refused(path: Path) -> str:
    with pytest.raises(InputError) as refusal:
        read_trace(path)
    message = str(refusal.value)
    assert message.startswith(f"{path}: ")
    return message


def test_a_sound_trace_has_no_findings(tmp_path: Path) -> None:
    path = opennetlab(tmp_path, entry(1000), entry(0), entry(2000))
    assert [item for item in found(path) if item[0] != "zero_share"] == []
    assert read_trace(path).capacity == read_trace(path, repair=True).capacity


def test_timer_artefacts_are_cut_with_a_warning_or_refused_when_strict(tmp_path: Path) -> None:
    path = opennetlab(tmp_path, entry(15_000), entry(32_799_999), entry(15_000), entry(80_100))
    assert found(path) == [("spike", "warning", "entry 1 (uplink.trace_pattern[1])")]
    message = (
        "entry 1 (uplink.trace_pattern[1]): warning (spike): capacity is 32.8 Gbps, a timer artefact; repair: cut to "
        "80.1 Mbps"
    )
    assert [finding.located() for finding in read_trace(path).findings] == [message]
    # A rate above 60 Mbps is no fault.
    assert rates(path) == [15e6, 80.1e6, 15e6, 80.1e6]
    for repair in (False, True):
        with pytest.raises(InputError) as refusal:
            read_trace(path, strict=True, repair=repair)
        assert "1 fault; omit --strict to accept the repairs, or fix the file" in str(refusal.value)
        assert message in str(refusal.value)


FIRST, SECOND, THIRD = (f"entry {index} (uplink.trace_pattern[{index}])" for index in range(3))
# Rows of a CSV file or an OpenNetLab trace, the findings, a part of the message that refuses it, the repaired rates.
FAULTS = {
    "a spike is cut to the largest believable rate": (
        ["0,1000000", "1,3000000", "2,8039999000", "3,2000000"],
        [("spike", "warning", "line 4")], "", [1e6, 3e6, 3e6, 2e6],
    ),
    "a spike on a fast link": (
        [entry(90_000), entry(8_039_999), entry(85_500)],
        [("rate_unit", "warning", FIRST), ("spike", "warning", SECOND)], "", [90e6, 90e6, 85.5e6],
    ),
    "a fast link": (["0,2500000000", "1,1000000000", "2,9000000000"], [], "", [2.5e9, 1e9, 9e9]),
    "a link of 90 Mbps": (
        [entry(90_000), entry(85_500), entry(140_000), entry(0, 10)],
        [("rate_unit", "warning", FIRST)], "", [90e6, 85.5e6, 140e6, 0],
    ),
    "peaks of a link of 50 Mbps": ([entry(50_000), entry(75_000), entry(45_000)], [], "", [50e6, 75e6, 45e6]),
    "bits where kilobits belong": (
        [entry(1_000_000), entry(2_500_000), entry(400_000)], [("unit_error", "error", FIRST)],
        "hardly kbps; if they are bit/s, divide them by 1000; this cannot be repaired", None,
    ),
    "kilobits where bits belong": (
        ["0,2500", "1,800"], [("unit_error", "error", "line 2")], "every rate taken as kbps", [2.5e6, 0.8e6],
    ),
    "megabits where bits belong": (
        ["0,2.5", "1,12"], [("unit_error", "error", "line 2")], "every rate taken as Mbps", [2.5e6, 12e6],
    ),
    "megabits where kilobits belong": (
        [entry(2.5), entry(12)], [("unit_error", "error", FIRST)], "every rate taken as Mbps", [2.5e6, 12e6],
    ),
    "a negative rate": (
        ["0,1000000", "1,-5", "2,2000000"], [("negative_rate", "error", "line 3")],
        "line 3: error (negative_rate): capacity is -5 bit/s; repair: 0 bit/s", [1e6, 0, 2e6],
    ),
    "time that runs backwards": (
        ["0,1000000", "2,2000000", "1,3000000", "2,4000000", "3,5000000"],
        [("non_monotone_time", "error", "line 4"), ("non_monotone_time", "error", "line 5")],
        "line 4: error (non_monotone_time): 1 s is not later than 2 s; repair: the entry is dropped", [1e6, 2e6, 5e6],
    ),
    "entries without a duration": (
        [entry(1000), entry(2000, 0), entry(3000, -200), entry(4000)],
        [("bad_duration", "error", SECOND), ("bad_duration", "error", THIRD)],
        "duration is -200 ms; repair: the entry is dropped", [1e6, 4e6],
    ),
    "a change log": (["0,1000000", "10,2000000", "11,3000000", "60,1000000"], [], "", [1e6, 2e6, 3e6, 1e6]),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "findings", "message", "repaired"), FAULTS.values(), ids=FAULTS)
def test_faults_are_found_refused_and_repaired(
    tmp_path: Path, rows: list[Any], findings: list[Any], message: str, repaired: list[float] | None
) -> None:
    path = csv_file(tmp_path, *rows) if isinstance(rows[0], str) else opennetlab(tmp_path, *rows)
    assert [item for item in found(path) if item[0] != "zero_share"][: len(findings)] == findings
    if message:
        assert all(part in refused(path) for part in message.split("; this"))
    if repaired:
        assert rates(path) == pytest.approx(repaired)


def test_seconds_where_milliseconds_belong(tmp_path: Path) -> None:
    path = opennetlab(tmp_path, entry(1000, 0.2), entry(2000, 0.3))
    assert "durations are hardly in ms; repair: every duration taken as seconds" in refused(path)
    capacity = read_trace(path, repair=True).capacity
    assert capacity is not None
    assert capacity.period_s == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("10\n30\n20\n200\n", "line 3: warning (unsorted): 20 ms comes after 30 ms; repair: the deliveries are sorted"),
        ("10\n30\n20\n200\n190\n", "20 ms comes after 30 ms; 2 such lines; repair"),
        (
            "1600000000000\n1600000000100\n1600000000200\n",
            "line 1: warning (shifted): the first time is 1600000000000 ms; all times are shifted so that it becomes 0",
        ),
    ],
)
def test_mahimahi_files_made_of_captures_are_read_as_they_come(tmp_path: Path, text: str, warning: str | None) -> None:
    path = tmp_path / "trace.up"
    path.write_text(text)
    imported = read_trace(path)
    assert imported.capacity is not None
    assert imported.capacity.rates_bps.tolist() == [len(text.split()) * 12000 / 0.2]
    assert [finding.severity for finding in imported.findings] == (["warning"] if warning else [])
    assert not warning or warning in str(imported.findings[0])


def test_missing_samples(tmp_path: Path) -> None:
    rows = [f"{time},1000000" for time in [*range(10), *range(20, 30)]]
    path = csv_file(tmp_path, *rows)
    assert found(path) == [("gap", "error", "line 11")]
    assert "the next sample is 11 s away, the usual step is 1 s; repair: this entry's rate holds" in refused(path)
    capacity = read_trace(path, repair=True).capacity
    assert capacity is not None
    assert capacity.period_s == 30


def test_a_trace_of_nothing_cannot_be_repaired(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "0,0", "1,0")
    with pytest.raises(InputError, match=r"this cannot be repaired; fix the file:\n  line 2: error \(all_zero\)"):
        read_trace(path, repair=True)


def test_outages_are_shown_and_kept(tmp_path: Path) -> None:
    path = opennetlab(tmp_path, entry(1000, 7000), entry(0, 600), entry(0, 500), entry(1000, 7000), entry(0, 900))
    imported = read_trace(path)
    assert [str(finding) for finding in imported.findings] == [
        f"{path}: entry 1 (uplink.trace_pattern[1]) to entry 2 (uplink.trace_pattern[2]): warning (zero_run): "
        "no capacity for 1.1 s from 7.0 s on; kept as an outage",
        f"{path}: entry 1 (uplink.trace_pattern[1]): warning (zero_share): no capacity for 12% of the whole time; "
        "kept as outages",
    ]
    assert imported.capacity is not None
    assert imported.capacity.rates_bps.tolist() == [1e6, 0, 0, 1e6, 0]


def test_tiny_capacities_are_shown_and_kept(tmp_path: Path) -> None:
    path = opennetlab(tmp_path, entry(1000), entry(3), entry(10))
    imported = read_trace(path)
    assert [finding.message for finding in imported.findings] == [
        "capacity is 3 kbps: a 1200-byte packet alone would take 3.2 s; kept"
    ]
    assert imported.capacity is not None
    assert imported.capacity.rates_bps.tolist() == [1e6, 3e3, 1e4]


def test_loss_in_percent(tmp_path: Path) -> None:
    path = opennetlab(tmp_path, entry(1000, loss=5), entry(1000))
    assert "loss is 5, outside 0..1; repair: all losses taken as percent" in refused(path)
    assert read_trace(path, repair=True).loss_ratio == pytest.approx(0.05)


def test_loss_and_delay_out_of_range(tmp_path: Path) -> None:
    path = opennetlab(tmp_path, entry(1000, loss=-0.1, rtt=50_000))
    assert [code for code, _, _ in found(path)] == ["bad_loss", "bad_rtt"]
    imported = read_trace(path, repair=True)
    assert (imported.loss_ratio, imported.one_way_delay_ms) == (0, 10_000)


def test_loss_and_delay_change_with_the_entries(tmp_path: Path) -> None:
    path = opennetlab(
        tmp_path, entry(1000, 100), entry(1000, 100, loss=0.2, rtt=100), entry(500, 300), entry(1000, loss=0, rtt=60)
    )
    imported = read_trace(path)
    assert imported.findings == []
    assert imported.loss_ratio == RatioOverTime(times_s=[0, 0.1, 0.5], ratios=[0, 0.2, 0], period_s=0.7)
    assert imported.one_way_delay_ms == DelayOverTime(times_s=[0, 0.5], values_ms=[50, 30], period_s=0.7)


def test_constant_loss_and_delay_are_numbers(tmp_path: Path) -> None:
    imported = read_trace(opennetlab(tmp_path, entry(1000, loss=0.2, rtt=100), entry(500, loss=0.2)))
    assert (imported.loss_ratio, imported.one_way_delay_ms) == (0.2, 50)


def test_the_downlink_is_the_return_path(tmp_path: Path) -> None:
    downlink = {"trace_pattern": [entry(500, 100, loss=0.1), entry(800, 100, rtt=80)]}
    imported = read_trace(opennetlab(tmp_path, entry(1000), downlink=downlink))
    assert imported.findings == []
    assert imported.reverse is not None
    assert imported.reverse.capacity == CapacityTrace([0, 0.1], [500e3, 800e3], 0.2)
    assert (imported.reverse.loss_ratio, imported.reverse.one_way_delay_ms) == (0.1, 40)
    assert "entry 1 (downlink.trace_pattern[1])" in refused(
        opennetlab(tmp_path, entry(1000), downlink={"trace_pattern": [entry(500), entry(-1)]})
    )


def test_unused_keys_are_reported(tmp_path: Path) -> None:
    path = opennetlab(tmp_path, entry(1000, jitter=5), entry(1000, jitter=0), downlink={})
    assert found(path) == [("ignored", "warning", "entry 0 (uplink.trace_pattern[0])")]


def test_times_that_look_like_milliseconds(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "0,1000000", "200,2000000", "400,3000000")
    assert [finding.message for finding in read_trace(path).findings] == [
        "the usual step is 200 s; if the times are milliseconds, name the column time_ms"
    ]


def test_only_the_first_of_many_faults_are_printed(tmp_path: Path) -> None:
    path = csv_file(tmp_path, *[f"{index},{-1 if index % 2 else 1e6}" for index in range(20)])
    message = refused(path)
    assert message.startswith(f"{path}: 10 faults; add --repair")
    assert message.count("\n") == 6
    assert message.endswith("and 5 more")


def test_a_rate_far_above_all_others_is_reported_and_kept(tmp_path: Path) -> None:
    rates = [4.0 + 0.1 * (i % 7) for i in range(30)]
    rates[14] = 250.0
    path = tmp_path / "drive.csv"
    path.write_text("time,Mbps\n" + "".join(f"{i},{rate}\n" for i, rate in enumerate(rates)))
    imported = read_trace(path)
    (found,) = [finding for finding in imported.findings if finding.code == "outlier"]
    assert "250 Mbps" in found.message
    assert "--queue" in found.message
    assert imported.capacity is not None
    assert imported.capacity.rates_bps.max() == 250e6


def test_minus_one_is_a_missing_reading_not_an_outage(tmp_path: Path) -> None:
    path = tmp_path / "modem.csv"
    path.write_text("time,Mbps\n0,4\n1,3\n2,-1\n3,-1\n4,5\n5,4\n")
    imported = read_trace(path, repair=True)
    assert imported.capacity is not None
    assert imported.capacity.rates_bps.min() == 3e6
    assert "missing" in str(imported.findings[0].repair)
    path.write_text("time,Mbps\n0,4\n1,3\n2,-1\n3,-2\n4,5\n5,4\n")
    imported = read_trace(path, repair=True)
    assert imported.capacity is not None
    assert imported.capacity.rates_bps.min() == 0
