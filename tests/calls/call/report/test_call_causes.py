"""Causes of a call's freezes and long queues, from logs with one fault each."""

import json

import pytest

from weir_calls.call import logs
from weir_calls.call.call_causes import call_episodes
from weir_calls.call.record import conclude
from weir_calls.call.summary import Call, summarise_calls
from weir_calls.link.log import read_link_log
from weir_eval.records.summary import RunAbout
from weir_eval.webrtc_stats import read_stats_log

SECONDS = 12
STEPS = 10 * SECONDS


def episodes_of(settings, started_us, ended_us):
    sender = read_stats_log(settings.out / logs.SENDER_STATS)
    link = read_link_log(settings.out / logs.LINK_LOG, "forward")
    return call_episodes(settings, sender, link, started_us, ended_us)


@pytest.fixture
def call(made_call, tmp_path):
    """call(**of_link): the episodes of a call with these columns of its link's log, a value each step; by kind."""
    made_call.make_logs(tmp_path, freeze_s=0.0)

    def episodes(controller="weir", estimates=None, reverse=lambda step: True, sender=(), **link_columns):
        columns = {
            "carried_bytes": 6000,
            "queue_bytes": 0,
            "queueing_delay_ms": 0.0,
            "dropped_packets": 0,
        } | link_columns
        lines = []
        for step in range(STEPS):
            common = {"time_us": made_call.START_US + (step + 1) * 100_000, "scenario_time_s": (step + 1) / 10}
            values = {name: value[step] if isinstance(value, list) else value for name, value in columns.items()}
            delay = {"one_way_delay_ms_mean": 25.0, "packets": 10}
            lines.append(common | delay | {"direction": "forward", "capacity_bps": 1e6} | values)
            lines.append(common | (delay if reverse(step) else {"packets": 0}) | {"direction": "reverse"})
        made_call.write_lines(tmp_path / logs.LINK_LOG, lines)
        made_call.write_lines(
            tmp_path / logs.ESTIMATES,
            [
                {"type": "estimate", "time_us": made_call.START_US + (step + 1) * 100_000, "target_rate_bps": rate}
                for step, rate in enumerate(estimates or [5e5] * STEPS)
            ],
        )
        if sender:
            made_call.write_lines(tmp_path / logs.SENDER_STATS, sender)
        settings = made_call.settings(tmp_path, controller)
        return episodes_of(settings, made_call.START_US, made_call.START_US + SECONDS * 1_000_000)

    return episodes


def during(start, end, inside, outside):
    return [inside if start <= step < end else outside for step in range(STEPS)]


# Twice the capacity for a second; the queue that it makes, and what is left of it.
BURST = {
    "carried_bytes": during(50, 60, 12_500, 5000),
    "queue_bytes": during(50, 60, 0, 0)[:50] + [12_500 * (step + 1) for step in range(10)] + [0] * 60,
    "queueing_delay_ms": [0.0] * 50 + [100.0 * (step + 1) for step in range(10)] + [0.0] * 60,
}


def causes(episodes):
    return [(episode.kind, episode.cause) for episode in episodes]


def test_a_freeze_while_the_link_is_cut_is_an_outage(call, made_call, tmp_path):
    made_call.make_logs(tmp_path, freeze_at_s=5.0, freeze_s=5.0)
    cut = {"capacity_bps": during(50, 100, 0, 1e6), "packets": during(50, 100, 0, 10)}
    (freeze,) = call(dropped_while_down_packets=during(50, 100, 5, 0), carried_bytes=during(50, 100, 0, 6000), **cut)
    assert (freeze.kind, freeze.cause) == ("freeze", "outage")
    assert freeze.shares["outage"] > 0.9


def test_a_queue_under_a_target_below_the_capacity_is_the_encoders(call):
    assert causes(call(**BURST)) == [("queue", "encoder")]


def test_a_queue_under_a_high_estimate_is_the_decisions(call):
    (episode,) = call(estimates=during(45, 62, 2e6, 5e5), **BURST)
    assert (episode.cause, episode.flow) == ("decision", "")
    assert (episode.start_s, episode.duration_s) == pytest.approx((5.1, 0.9))


def test_estimates_that_the_return_path_loses(call):
    episodes = call(estimates=during(0, 45, 2e6, 5e5), reverse=lambda step: not 44 <= step < 70, **BURST)
    assert causes(episodes) == [("queue", "feedback")]


def test_a_controller_at_the_sender_follows_its_own_rate(call, made_call):
    sender = [
        {
            "time_us": made_call.START_US + second * 1_000_000,
            "report": [
                {"id": "CP", "type": "candidate-pair", "availableOutgoingBitrate": 2e6, "bytesSent": second},
                {"id": "O", "type": "outbound-rtp", "kind": "video", "keyFramesEncoded": 1 + (second > 5)},
            ],
        }
        for second in range(1, SECONDS)
    ]
    assert causes(call("gcc", sender=sender, **BURST)) == [("queue", "decision")]
    for report in (line["report"] for line in sender):
        report[0]["availableOutgoingBitrate"] = 4e5
    assert causes(call("gcc", sender=sender, **BURST)) == [("queue", "key_frame")]


def test_the_record_the_summary_and_the_page_have_the_causes(made_call, tmp_path):
    made_call.make_logs(tmp_path)
    record = conclude(made_call.settings(tmp_path), made_call.progress())
    (freeze,) = (episode for episode in record.episodes if episode.kind == "freeze")
    assert freeze.start_s == pytest.approx(6.2, abs=0.1)
    assert freeze.duration_s == pytest.approx(record.measures["total_freezes_duration_s"])
    # Its frames never came, and no packet was lost.
    assert freeze.cause == "encoder"
    assert json.loads((tmp_path / logs.RECORD).read_text())["episodes"] == [e.model_dump() for e in record.episodes]
    summary = summarise_calls([Call(record, "steps", "weir")], RunAbout())
    assert [(row.kind, row.runs) for row in summary.causes] == [("freeze", 1), ("queue", 1)]
    assert summary.causes[0].seconds_by_cause["encoder"] > 0.9


def test_a_call_without_the_links_log_has_none(made_call, tmp_path):
    made_call.make_logs(tmp_path)
    (tmp_path / logs.LINK_LOG).unlink()
    assert episodes_of(made_call.settings(tmp_path), made_call.START_US, made_call.START_US + 12_000_000) == []
