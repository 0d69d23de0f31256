import json
from itertools import pairwise

import pytest

from weir_calls.call.disturbance import disturbances, late_wake_ups, link_lag_ms
from weir_calls.call.link_accuracy import link_accuracy
from weir_calls.link.log import DELAY_ERROR_BOUNDS_MS, read_link_log
from weir_eval.webrtc_stats import StatsReports
from weir_traces.schema.scenario import Scenario

START_US, END_US = 1_000_000_000, 1_030_000_000


def sender(reasons=("bandwidth",), frames_per_second=30.0):
    """A report a second; the reasons share the call evenly."""
    reports = StatsReports()
    rates = frames_per_second if isinstance(frames_per_second, list) else [frames_per_second]
    for second in range(31):
        reports.add(
            START_US / 1e6 + second,
            [
                {
                    "id": "O", "type": "outbound-rtp", "kind": "video",
                    "qualityLimitationReason": reasons[min(second * len(reasons) // 30, len(reasons) - 1)],
                },
                {"id": "S", "type": "media-source", "kind": "video", "framesPerSecond": rates[second % len(rates)]},
            ],
        )  # fmt: skip
    return reports


def write_link_log(path, rows):
    """Rows of 100 ms: (packets, delay error ms, queue bytes, carried bytes)."""
    bounds = (0.0, *DELAY_ERROR_BOUNDS_MS)
    with path.open("w") as file:
        for number, (packets, error_ms, queue, carried_bytes) in enumerate(rows):
            line = {
                "time_us": START_US + 100_000 * (number + 1), "scenario_time_s": 0.1 * (number + 1),
                "direction": "forward", "capacity_bps": 1e6, "queue_bytes": queue, "carried_bytes": carried_bytes,
                "idle_ms": 0.0 if queue else 20.0,
                "queueing_delay_ms": 0.0, "packets": packets, "bytes": 1200 * packets, "dropped_packets": 0,
                "delay_error_ms_p95": error_ms if packets else None,
                "delay_error_ms_counts": [packets * (low < error_ms <= high) for low, high in pairwise(bounds)],
            }  # fmt: skip
            file.write(json.dumps(line) + "\n")
    return path


def found(tmp_path, reports, rows=((10, 0.1, 0, 0),) * 300):
    log = read_link_log(write_link_log(tmp_path / "link.jsonl", rows), "forward")
    return disturbances(reports, log, 30.0, START_US, END_US)


def test_a_call_at_rest(tmp_path):
    assert found(tmp_path, sender()) == []
    assert found(tmp_path, StatsReports()) == []
    single_report = StatsReports()
    single_report.add(START_US / 1e6, [{"id": "O", "type": "outbound-rtp", "kind": "video", "framesEncoded": 1}])
    assert found(tmp_path, single_report) == []


def test_an_encoder_short_of_cpu(tmp_path):
    (reason,) = found(tmp_path, sender(("bandwidth", "cpu", "bandwidth")))
    assert "short of CPU for 36%" in reason
    # Before the call has settled it does not count.
    assert found(tmp_path, sender(("cpu",) + ("none",) * 29)) == []


def test_a_source_that_is_too_slow(tmp_path):
    (reason,) = found(tmp_path, sender(frames_per_second=26.0))
    assert "under 27 frames per second for 100% of the call" in reason
    assert found(tmp_path, sender(frames_per_second=27.5)) == []


def test_a_source_that_stalls_now_and_then(tmp_path):
    assert found(tmp_path, sender(frames_per_second=[30.0] * 28 + [10.0] * 2)) == []
    (reason,) = found(tmp_path, sender(frames_per_second=[30.0] * 26 + [10.0] * 4))
    assert "14% of the call" in reason


def test_processes_that_wait_for_the_machine():
    assert late_wake_ups(None) == late_wake_ups(20.0) == []
    (reason,) = late_wake_ups(33.0)
    assert "33 ms late" in reason


def test_a_link_that_is_late(tmp_path):
    few = [(10, 0.1, 0, 0)] * 290 + [(10, 50.0, 0, 0)] * 10
    many = [(10, 0.1, 0, 0)] * 200 + [(10, 3.0, 0, 0)] * 100
    empty = [(10, 0.1, 0, 0)] * 200 + [(0, 0, 0, 0)] * 100
    assert found(tmp_path, sender(), few) == []
    (reason,) = found(tmp_path, sender(), many)
    # The quantile lies between 2 and 4 ms.
    assert "3.7 ms late" in reason
    assert found(tmp_path, sender(), empty) == []
    assert link_lag_ms(read_link_log(tmp_path / "none.jsonl", "forward")) is None


@pytest.mark.parametrize(("carried_bytes", "expected"), [(12_500, 1.0), (12_750, 1.02), (6_250, 0.5)])
def test_the_capacity_that_a_log_shows(tmp_path, carried_bytes, expected):
    scenario = Scenario.make(
        name="steady",
        duration_s=30.0,
        forward={"capacity": {"times_s": [0.0], "rates_bps": [1e6]}},
        flows=[{"kind": "rtp"}],
    )
    # Half of the time the queue is empty, and the carried rate then has no bearing on the capacity.
    rows = [(10, 0.1, 20_000, carried_bytes)] * 150 + [(1, 0.1, 0, 100)] * 150
    accuracy = link_accuracy(write_link_log(tmp_path / "link.jsonl", rows), scenario)
    assert accuracy.capacity_ratio == pytest.approx(expected)
    assert 0.0625 < accuracy.delay_error_ms_p95 <= 0.125
    idle = link_accuracy(write_link_log(tmp_path / "idle.jsonl", [(1, 0.1, 0, 100)] * 100), scenario)
    assert idle.capacity_ratio is None
