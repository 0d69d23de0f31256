"""`weir whatif` on a log of an observed connection that has packets."""

import json

from made_observations import observation, write_log

from weir_logs.event_logs.event_log import parse_event_log
from weir_logs.observations.observed_events import read_observed_events

SECOND_US = 1_000_000


def packets(duration_s, rate_bps):
    """A call over a path of 40 ms: sent packets of 1,000 bytes, and feedback every 50 ms."""
    sent_us, identifier, waiting = 0.0, 0, []
    for time_us in range(50_000, duration_s * SECOND_US, 50_000):
        while sent_us < time_us:
            yield {
                "type": "sent", "time_us": int(sent_us), "size_bytes": 1000, "kind": "video", "id": identifier,
            }  # fmt: skip
            waiting.append([identifier, None if identifier % 50 == 7 else int(sent_us) + 20_000])
            identifier += 1
            sent_us += 8e9 / rate_bps
        arrived = [one for one in waiting if (one[1] or 0) <= time_us - 20_000]
        yield {"type": "feedback", "time_us": time_us, "packets": arrived}
        waiting = waiting[len(arrived) :]


def log_with_packets(folder):
    events = [*packets(20, 1_000_000), *(observation(i, weir_bps=800_000 + 10_000 * i) for i in range(20))]
    return write_log(folder, "call", sorted(events, key=lambda event: event["time_us"]))


def test_other_controllers_run_on_the_packets_of_an_observed_connection(run_weir, tmp_path):
    status, printed, error = run_weir(
        "whatif", log_with_packets(tmp_path), "--controller", "weir-send", "--controller", "gcc", "--json",
        "--out", tmp_path / "page",
    )  # fmt: skip
    assert status == 0, error
    logged, weir, gcc = json.loads(printed)["controllers"]
    assert (logged["controller"], logged["mean_kbps"]) == ("logged", 1000)
    assert weir["mean_kbps"] > 300
    assert gcc["mean_kbps"] > 300


def test_the_target_is_that_of_the_estimator_in_charge(tmp_path):
    events = [
        {"type": "sent", "time_us": 0, "size_bytes": 1000, "id": 0},
        observation(1, other_bps=None), observation(2, other_bps=500_000), observation(3, in_charge="weir"),
    ]  # fmt: skip
    log = parse_event_log(read_observed_events(write_log(tmp_path, "call", events)).lines(), "call")
    times_s, bps = log.target()
    assert times_s.tolist() == [2, 3]
    assert bps.tolist() == [500_000, 1_000_000]


def test_a_log_without_packets_names_the_command_that_shows_it(run_weir, tmp_path):
    status, _, error = run_weir("whatif", write_log(tmp_path, "call", [observation(1)]))
    assert status == 2
    assert "which `weir report` shows, but no packets" in error


def test_wrong_packets_are_skipped(tmp_path):
    events = [
        {"type": "sent", "time_us": 0, "size_bytes": 1000, "id": 0},
        {"type": "sent", "time_us": -1, "size_bytes": 1000, "id": 1},
        {"type": "sent", "time_us": 1, "size_bytes": 1e9, "id": 1},
        {"type": "feedback", "time_us": 1, "packets": [[0, "now"]]},
        {"type": "feedback", "time_us": 1, "packets": [[0, 5], 7]},
        {"type": "feedback", "time_us": 2, "packets": [[0, 5]]},
    ]
    lines = [json.loads(line) for line in read_observed_events(write_log(tmp_path, "call", events)).lines()]
    assert [line["type"] for line in lines] == ["log", "sent", "feedback"]
    assert lines[2]["packets"] == [[0, 5]]
