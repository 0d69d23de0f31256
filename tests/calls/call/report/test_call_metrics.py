import json

import numpy as np
import pytest

from weir_calls.call import logs
from weir_calls.call.measures import CALL_MEASURES, VMAF_FRAMES
from weir_calls.call.media.wav import write_wav
from weir_calls.call.record import conclude, read_record
from weir_calls.link.log import read_link_log
from weir_cli.errors import InputError
from weir_eval.measures.call_quality import call_quality
from weir_eval.measures.call_score import call_score
from weir_eval.measures.delay_stages import STAGES
from weir_traces.schema.values_over_time import DelayOverTime


def test_the_measures_of_a_call(made_call, source, tmp_path):
    frames = made_call.make_logs(tmp_path)
    made_call.make_pictures(tmp_path, frames, source)
    measures = made_call.measured(tmp_path, source=source)
    found = measures.metrics
    assert list(found) == list(CALL_MEASURES)
    assert len(frames) == 324
    assert found["frames_per_second"] == pytest.approx(324 / 11.8)
    assert found["freeze_count"] == 1
    assert found["total_freezes_duration_s"] == pytest.approx(31 / 30, abs=1e-3)
    assert found["frozen_share"] == pytest.approx(31 / 30 / 11.8, abs=1e-3)
    # Also of the frames from before the first sender report.
    assert found["end_to_end_delay_ms_p50"] == pytest.approx(80, abs=0.1)
    assert found["end_to_end_delay_ms_p95"] == pytest.approx(80, abs=0.1)
    # The link has 2 Mbps for 5 s and 1 Mbps for 7 s, less 200 kbps of cross traffic; 80 % of that was used.
    assert found["utilisation"] == pytest.approx(0.8, abs=1e-3)
    assert found["receive_rate_bps"] == pytest.approx(0.8 * (4.8 * 1.8e6 + 7 * 0.8e6) / 11.8, rel=2e-3)
    # Means from 25 to 44 ms, and 1 ms to both sides.
    assert found["network_delay_ms_p95"] == pytest.approx(43.5, abs=0.6)
    assert found["p95_queueing_delay_ms"] == pytest.approx(found["network_delay_ms_p95"] - 25)
    assert found["loss_ratio"] == pytest.approx(2 / 1182, abs=2e-4)
    assert found["received_bitrate_bps"] == pytest.approx(found["receive_rate_bps"], rel=0.01)
    assert found["qp_mean"] == pytest.approx(20)
    assert found["frame_height_mean"] == pytest.approx((180 * 210 + 90 * 114) / 324)
    assert found["time_to_first_frame_ms"] == pytest.approx(200)
    assert (found["stats_freeze_count"], found["stats_total_freezes_duration_s"]) == (1, pytest.approx(1.1))
    assert found["vmaf_mean"] > 95
    assert found["quality_switch_count"] == 1
    assert (found["concealed_share"], found["silent_concealed_share"]) == pytest.approx((0.02, 0.005))
    assert found["audio_jitter_buffer_delay_ms"] == pytest.approx(40)
    # Twelve reports, half of them before 6 s.
    assert (found["audio_ahead_ms"], found["audio_behind_ms"]) == pytest.approx((15, 5))
    assert (found["encode_time_ms"], found["decode_time_ms"]) == pytest.approx((5, 2))
    assert found["call_score"] == call_score(found, 11.8)
    assert found["call_quality"] == call_quality(found)
    assert 0 < found["delay_factor"] <= 1
    # The frames' 80 ms: 5 in the encoder and 8 in the pacer by getStats, 30 in the receiver, 10 of them in lip sync.
    stages = [found[f"delay_in_{stage}_ms_p50"] for stage in STAGES]
    assert stages == pytest.approx([5, 8, 80 - 5 - 8 - 30, 20, 10], abs=0.01)
    assert measures.frames == {"rendered": 324, "without_number": 0, "not_written": 0, "never_came": 30}
    assert measures.problems == []
    vmaf = json.loads((tmp_path / VMAF_FRAMES).read_text())
    assert [time for time, _ in vmaf["frames"]] == [frame["render_time_us"] for frame in frames]
    assert (tmp_path / logs.RECORDING).stat().st_size > 10_000


def test_a_call_without_audio_has_neither_its_measures_nor_a_score(made_call, source, tmp_path):
    frames = made_call.make_logs(tmp_path)
    made_call.make_pictures(tmp_path, frames, source)
    log = tmp_path / logs.RECEIVER_STATS
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        line["report"] = [entry for entry in line["report"] if entry.get("kind") != "audio"]
    made_call.write_lines(log, lines)
    found = made_call.measured(tmp_path, source=source, sender=None).metrics
    undefined = {name for name, value in found.items() if value is None}
    of_audio = {"concealed_share", "silent_concealed_share", "audio_jitter_buffer_delay_ms"}
    assert undefined == of_audio | {
        "audio_ahead_ms",
        "audio_behind_ms",
        "call_score",
        "plcmos_mean",
        "plcmos_min",
        *(f"delay_in_{stage}_ms_{of}" for stage in STAGES for of in ("p50", "p95")),
        "encode_time_ms",
        "layer_drops_per_minute",
        "lip_sync_share",
        "media_share",
        "time_to_top_layer_s",
        "top_layer_height",
        "video_quality",
        "viewer_quality",
        "visqol_mean",
        "visqol_min",
    }


def test_a_call_without_pictures_has_the_quality_of_its_bitrate(made_call, tmp_path):
    made_call.make_logs(tmp_path)
    found = made_call.measured(tmp_path).metrics
    assert found["vmaf_mean"] is None
    assert 50 < found["video_quality"] < 100
    assert found["viewer_quality"] == pytest.approx(found["video_quality"] * (1 - found["frozen_share"]))
    assert found["call_quality"] == call_quality(found) > 30


def test_speech_that_cannot_be_scored_leaves_its_measures_undefined(made_call, tmp_path, monkeypatch):
    made_call.make_logs(tmp_path)

    def measured():
        found = made_call.measured(tmp_path)
        assert {found.metrics[f"{model}_{of}"] for model in ("visqol", "plcmos") for of in ("mean", "min")} == {None}
        assert found.metrics["concealed_share"] == pytest.approx(0.02)
        return found.problems

    (tmp_path / logs.RECEIVED_AUDIO).write_bytes(b"RIFF")
    monkeypatch.setattr("weir_calls.call.media.quality.source_speech_path", lambda: tmp_path / logs.RECEIVED_AUDIO)
    with monkeypatch.context() as nothing_installed:
        for model in ("visqol", "plcmos"):
            nothing_installed.setattr(f"weir_calls.call.media.{model}.find_spec", lambda name: None)
        problems = measured()
        assert [text.split(" is missing")[0] for text in problems] == ["ViSQOL", "PLCMOS"]
    for model in ("visqol", "plcmos"):
        monkeypatch.setattr(f"weir_calls.call.media.{model}.find_spec", lambda name: object())
    (problem,) = measured()
    assert "received.wav: not a readable WAV file" in problem
    write_wav(tmp_path / logs.RECEIVED_AUDIO, np.zeros(0), 48_000)
    assert measured() == []


def test_wrong_pictures_lower_vmaf(made_call, source, tmp_path):
    frames = made_call.make_logs(tmp_path, duration_s=4, freeze_s=0)
    late = [frame | {"frame_number": (frame["frame_number"] + 20) % 300} for frame in frames]
    made_call.make_pictures(tmp_path, late, source)
    assert made_call.measured(tmp_path, source=source).metrics["vmaf_mean"] < 60


def test_a_call_that_froze_and_never_came_back(made_call, tmp_path):
    made_call.make_logs(tmp_path, freeze_at_s=6.0, freeze_s=100)
    found = made_call.measured(tmp_path).metrics
    assert found["freeze_count"] == 1
    assert found["total_freezes_duration_s"] == pytest.approx(12 - 0.2 - 179 / 30, abs=1e-3)
    assert found["frames_per_second"] == pytest.approx(180 / 11.8)
    assert found["vmaf_mean"] is None


def test_frames_that_were_not_written_or_not_read_are_not_compared(made_call, source, tmp_path):
    frames = made_call.make_logs(tmp_path, duration_s=4, freeze_s=0)
    for index, frame in enumerate(frames):
        if index % 10 == 3:
            frame["written"] = False
        if index % 10 == 7:
            frame["frame_number"] = None
    # In their place, the file has nothing, or a picture that fits no number.
    pictures = [
        frame | {"frame_number": frame["frame_number"] if frame["frame_number"] is not None else 200}
        for frame in frames
    ]
    made_call.make_pictures(tmp_path, pictures, source)
    made_call.write_lines(tmp_path / logs.FRAME_LOG, frames)
    measures = made_call.measured(tmp_path, source=source)
    assert measures.frames == {"rendered": 114, "without_number": 11, "not_written": 12, "never_came": 0}
    assert measures.metrics["vmaf_p5"] > 95
    assert measures.metrics["frames_per_second"] == pytest.approx(114 / 11.8)


def test_what_a_killed_call_left_is_measured(made_call, source, tmp_path):
    frames = made_call.make_logs(tmp_path)
    made_call.make_pictures(tmp_path, frames, source)
    for name in (logs.FRAMES, logs.FRAME_LOG, logs.LINK_LOG, logs.RECEIVER_STATS):
        path = tmp_path / name
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size * 2 // 3 + 7)
    (tmp_path / logs.ESTIMATES).unlink()
    measures = made_call.measured(tmp_path, source=source)
    assert measures.problems == []
    found = measures.metrics
    assert found["frozen_share"] > 0.2
    assert found["vmaf_mean"] > 95
    assert found["utilisation"] == pytest.approx(0.8, abs=1e-3)
    assert found["received_bitrate_bps"] > 8e5


def test_nothing_at_all(made_call, tmp_path):
    found = made_call.measured(tmp_path).metrics
    assert found["frames_per_second"] == 0
    assert found["frozen_share"] == 1
    assert {name for name, value in found.items() if value is not None} == {
        "call_quality", "frames_per_second", "frozen_share",
    }  # fmt: skip
    assert not any(made_call.measured(tmp_path, started_us=None, end_us=0).metrics.values())


def test_a_longer_path_is_no_queue(made_call, tmp_path):
    made_call.make_logs(tmp_path)
    constant = made_call.measured(tmp_path).metrics
    assert constant["p95_queueing_delay_ms"] == pytest.approx(constant["network_delay_ms_p95"] - 25.0)
    changing = DelayOverTime(times_s=[0, 1000], values_ms=[25.0, 500.0])
    assert made_call.measured(tmp_path, base_one_way_delay_ms=changing).metrics == pytest.approx(constant)
    longer = DelayOverTime(times_s=[0, 0.1], values_ms=[25.0, constant["network_delay_ms_p95"]])
    assert made_call.measured(tmp_path, base_one_way_delay_ms=longer).metrics["p95_queueing_delay_ms"] < 1.0


def test_a_damaged_picture_file_costs_only_its_measures(made_call, source, tmp_path):
    made_call.make_logs(tmp_path)
    (tmp_path / logs.FRAMES).write_bytes(b"YUV4MPEG2 W3 H3\n" + bytes(1000))
    measures = made_call.measured(tmp_path, source=source)
    assert "3x3" in measures.problems[0]
    assert measures.metrics["vmaf_mean"] is None
    assert measures.metrics["freeze_count"] == 1


def test_the_link_log_of_each_direction(made_call, tmp_path):
    made_call.make_logs(tmp_path)
    forward, reverse = (read_link_log(tmp_path / logs.LINK_LOG, name) for name in ("forward", "reverse"))
    assert len(forward.time_us) == len(reverse.time_us) == 120
    assert forward.interval_s.sum() == pytest.approx(12)
    assert forward.scenario_start_us == pytest.approx(made_call.START_US)
    assert reverse.bytes.sum() == 12_000
    assert len(forward.between(made_call.START_US + 1_000_000, made_call.START_US + 2_000_000).time_us) == 10
    assert len(read_link_log(tmp_path / "missing", "forward").interval_s) == 0


def test_delays_of_packets_are_estimated_from_intervals(made_call, tmp_path):
    """Against the packets themselves: intervals of very different delay, spread and size."""
    generator = np.random.default_rng(5)
    packets, lines = [], []
    for step in range(300):
        centre, spread = 30 + 200 * (step % 50 > 40), generator.uniform(0, 40)
        delays = centre + generator.uniform(0, spread, generator.integers(1, 60))
        packets.extend(delays)
        known = {"one_way_delay_ms_mean": delays.mean(), "one_way_delay_ms_p95": float(np.percentile(delays, 95))}
        lines.append({"direction": "forward", "time_us": step, "packets": len(delays)} | known)
    made_call.write_lines(tmp_path / "link.jsonl", lines)
    log = read_link_log(tmp_path / "link.jsonl", "forward")
    for percent in (50, 75, 95, 99):
        exact = float(np.percentile(packets, percent))
        assert log.one_way_delay_percentile_ms(percent) == pytest.approx(exact, rel=0.02, abs=1)
    assert read_link_log(tmp_path / "none", "forward").one_way_delay_percentile_ms(95) is None


def test_a_call_is_concluded(made_call, source, tmp_path, monkeypatch):
    folder = tmp_path / "steps-weir-1"
    frames = made_call.make_logs(folder)
    made_call.make_pictures(folder, frames, source)
    monkeypatch.setattr("weir_calls.call.record.source_video_path", lambda width, height: source)
    note = {"type": "note", "time_us": 7, "text": "link down for 5 s"}
    record = conclude(made_call.settings(folder), made_call.progress(happened=[note]))
    assert record.call.disturbed == []
    assert record == read_record(folder)
    assert (record.schema_, record.scenario, record.controller, record.seed) == ("weir.result/1", "steps", "weir", 1)
    assert record.objective == (0.4, 0.5, 0.1)
    assert record.versions == {"weir-peer": "0.1.0", "libwebrtc": "M109"}
    assert record.measures["vmaf_mean"] > 95
    assert record.measures["call_score"] > 50
    assert record.call.audio_codec == "opus"
    assert record.call.folder == "steps-weir-1"
    assert record.call.happened == [note]
    # Gigabytes of raw pictures are not kept.
    assert not (folder / logs.FRAMES).exists()
    assert (folder / logs.RECORDING).exists()


def test_a_call_that_never_began_has_a_record(made_call, source, tmp_path, monkeypatch):
    monkeypatch.setattr("weir_calls.call.record.source_video_path", lambda width, height: source)
    about = made_call.progress(failure="no connection within 30 s", started_us=None, ready={"link": {}})
    record = conclude(made_call.settings(tmp_path, "gcc"), about)
    assert record.call.disturbed == []
    assert record.objective is None
    assert record.call.failure == "no connection within 30 s"
    assert read_record(tmp_path) == record


def test_a_damaged_record_is_one_message(tmp_path):
    assert read_record(tmp_path) is None
    (tmp_path / logs.RECORD).write_text('{"schema": "weir.result/1"}')
    with pytest.raises(InputError, match="not a record of a call"):
        read_record(tmp_path)
