"""`weir replay --stack libwebrtc`, and measures of runs that know when frames were rendered."""

import json

import numpy as np
import pytest

from weir_calls.call.media.sent_media import with_sources
from weir_eval.measures.viewer import rendered_frames, rendered_measures, viewer_measures
from weir_eval.records.results_file import read_records
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.call_media import CallMedia, Encoder
from weir_eval.runs.store import RunStore


def of_frames(**columns):
    frames = {
        "capture_time_us": [int(1e6 * n / 30) for n in range(300)],
        "bytes": [4000] * 300,
        "sent_time_us": [0] * 300,
        "key_frame": [0] * 300,
        **columns,
    }
    flow = {"id": "media", "kind": "rtp", "controller": "gcc", "series": {"frames": frames}}
    return RunRecord.model_validate({
        "schema": "weir.result/1", "scenario": "s", "controller": "gcc", "seed": 1, "duration_s": 10.0,
        "path": {"one_way_delay_ms": 25.0}, "flows": [flow], "series": {"interval_s": 0.1},
    })  # fmt: skip


def rendered_after(*delays_ms):
    """A record of frames of which each is rendered after the next of these delays, and arrived 50 ms before."""
    capture_us = [int(1e6 * n / 30) for n in range(300)]
    delays_us = [int(1e3 * delays_ms[n % len(delays_ms)]) for n in range(300)]
    rendered_us = [capture + delay for capture, delay in zip(capture_us, delays_us, strict=True)]
    return of_frames(
        complete_time_us=[time - 50_000 for time in rendered_us], rendered_time_us=rendered_us, height=[360] * 300,
        qp=[20 + n % 11 for n in range(300)],
    )  # fmt: skip


def test_end_to_end_delay_is_that_of_the_rendering():
    record = rendered_after(200)
    measures = rendered_measures(record.flows[0])
    assert measures["end_to_end_delay_ms_p50"] == measures["end_to_end_delay_ms_p95"] == pytest.approx(200)
    assert measures["frame_height_mean"] == 360
    assert measures["qp_mean"] == pytest.approx(np.mean([20 + n % 11 for n in range(300)]))


def test_a_quantizer_that_is_not_known_has_no_mean():
    flow = rendered_after(100).flows[0]
    flow.series["frames"]["qp"] = [-1] * 300
    assert rendered_measures(flow)["qp_mean"] is None


def test_freezes_are_those_of_the_rendering():
    record = rendered_after(100)
    late = record.flows[0].series["frames"]["rendered_time_us"]
    for index in range(100, 150):
        late[index] = None
    measures = viewer_measures(record, record.flows[0])
    assert measures["freeze_count"] == 1
    assert measures["total_freezes_duration_s"] == pytest.approx(51 / 30, abs=0.01)


def test_replays_have_the_delays_of_rendering_without_height_and_quantizer():
    arrived_us = [int(1e6 * n / 30) + 60_000 for n in range(300)]
    record = of_frames(complete_time_us=arrived_us, rendered_time_us=[time + 40_000 for time in arrived_us])
    assert rendered_measures(record.flows[0]) == {
        "delay_factor": 1.0, "end_to_end_delay_ms_p50": pytest.approx(100),
        "end_to_end_delay_ms_p95": pytest.approx(100),
    }  # fmt: skip
    assert viewer_measures(record, record.flows[0])["frame_delay_ms_p95"] == pytest.approx(60)


def test_frames_that_arrive_in_bursts_do_not_freeze_if_they_are_rendered_evenly():
    # Deliveries each 200 ms, and a jitter buffer that waits for the last of them.
    arrived_us = [(n // 6 + 1) * 200_000 for n in range(300)]
    smooth_us = [int(1e6 * n / 30) + 250_000 for n in range(300)]
    record = of_frames(complete_time_us=arrived_us, rendered_time_us=smooth_us)
    assert viewer_measures(record, record.flows[0])["frozen_share"] == 0
    # As records of earlier versions were measured.
    record = of_frames(complete_time_us=arrived_us)
    assert viewer_measures(record, record.flows[0])["frozen_share"] > 0.9


def test_a_frame_without_an_arrival_is_not_rendered():
    arrived_us = [int(1e6 * n / 30) + 60_000 for n in range(300)]
    rendered_us = [time + 40_000 for time in arrived_us]
    arrived_us[-1] = None
    record = of_frames(complete_time_us=arrived_us, rendered_time_us=rendered_us)
    assert viewer_measures(record, record.flows[0])["frame_delay_ms_p95"] == pytest.approx(60)


def test_records_of_earlier_versions_have_no_rendering():
    record = of_frames(complete_time_us=[int(1e6 * n / 30) + 60_000 for n in range(300)])
    assert rendered_measures(record.flows[0]) == {}
    assert viewer_measures(record, record.flows[0])["freeze_count"] == 0


def test_the_job_names_the_source_video_and_the_record_does_not(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    media = with_sources(CallMedia(Encoder.VP8, 80, 40))
    assert media.request() == media.description() | {"video": str(next(tmp_path.rglob("*.y4m")))}
    assert CallMedia(Encoder.FAKE).request() == {
        "encoder": "fake",
        "width": 640,
        "height": 360,
        "sender": "chromium",
    }


def test_the_playout_mode_is_part_of_the_job_and_of_the_record():
    media = CallMedia(Encoder.FAKE, playout="limited")
    limited = CallMedia(Encoder.FAKE).request() | {"playout": "limited"}
    assert media.request() == media.description() == limited


@pytest.mark.parametrize(
    "option", [("--playout", "limited"), ("--encoder", "fake"), ("--size", "1280x720"), ("--vmaf",)]
)
def test_the_simulators_model_refuses_options_of_virtual_calls(run_weir, option):
    status, _, error = run_weir("replay", "catalogue/steps", *option)
    assert status == 2
    assert f"{option[0]}: only virtual calls have it; use --stack libwebrtc" in error


def test_a_replay_on_libwebrtcs_stack(virtual_call_program, run_weir, tmp_path):
    # One job at a time: records are written as runs end.
    options = (
        "catalogue/steps",
        "--stack",
        "libwebrtc",
        "--encoder",
        "fake",
        "--duration",
        8,
        "--seeds",
        1,
        "--jobs",
        1,
    )
    controllers = ("--controller", "weir", "--controller", "gcc", "--objectives", 0)
    status, _, error = run_weir("replay", *options, *controllers, "--out", tmp_path / "out")
    assert status == 0, error
    records = read_records(tmp_path / "out" / "results.jsonl", RunRecord)
    assert [record.controller for record in records] == ["weir", "gcc"]
    for record in records:
        assert (record.stack, record.virtual_call) == ("libwebrtc", CallMedia(Encoder.FAKE).description())
        assert record.measures["receive_rate_bps"] > 1e5
        assert record.measures["end_to_end_delay_ms_p95"] > record.measures["network_delay_ms_p95"] / 2
    run_weir("replay", *options, *controllers, "--out", tmp_path / "again")
    assert (tmp_path / "again/results.jsonl").read_bytes() == (tmp_path / "out/results.jsonl").read_bytes()


def test_short_dips_of_a_fast_link_cost_no_more_than_under_gcc(virtual_call_program, run_weir, tmp_path):
    # 60 Mbps, and 300 kbps for 0.7 s each 5 s.
    times_s = [start_s + part_s for start_s in range(0, 60, 5) for part_s in (0, 4.3)]
    capacity = {"times_s": times_s, "rates_bps": [60e6, 300e3] * 12}
    scenario = {
        "schema": "weir.scenario/1", "name": "dips", "duration_s": 60,
        "forward": {"capacity": capacity, "one_way_delay_ms": 15, "queue": {"bytes": 2_000_000}},
        "flows": [{"kind": "rtp", "id": "media",
                   "media": {"kind": "video", "max_rate_bps": 20e6, "frames_per_second": 60}}],
    }  # fmt: skip
    file = tmp_path / "dips.json"
    file.write_text(json.dumps(scenario))
    controllers = [part for name in ("weir", "weir-send", "gcc") for part in ("--controller", name)]
    status, _, error = run_weir(
        "replay", file, "--stack", "libwebrtc", "--encoder", "fake", "--seeds", 0, "--objectives", 0,
        *controllers, "--out", tmp_path / "out",
    )  # fmt: skip
    assert status == 0, error
    records = read_records(tmp_path / "out" / "results.jsonl", RunRecord)
    rates_bps = {record.controller: record.measures["receive_rate_bps"] for record in records}
    assert rates_bps["weir"] >= rates_bps["gcc"] > 5e6
    assert rates_bps["weir-send"] >= rates_bps["gcc"]


def unclamped_sums_ms(record):
    """End-to-end delays of a run's frames, and the sums of their stages that have a positive duration as recorded."""
    (frames,) = [flow.series["frames"] for flow in record.flows if flow.kind == "rtp"]
    shown, rendered_us = rendered_frames(frames)
    columns = ["capture_time_us", "encoded_time_us", "sent_time_us", "arrived_time_us", "lip_sync_us"]
    capture, encoded, sent, arrived, lip_sync = (np.array(frames[name], dtype=np.float64)[shown] for name in columns)
    decodable = np.maximum.accumulate(arrived)
    held = rendered_us - decodable
    stages = [encoded - capture, sent - encoded, decodable - sent, np.maximum(held - lip_sync, 0), lip_sync]
    return (rendered_us - capture) / 1e3, np.maximum(stages, 0).sum(axis=0) / 1e3


def test_the_stages_of_frames_add_up_to_their_end_to_end_delay(virtual_call_program, run_weir, tmp_path):
    options = ("--stack", "libwebrtc", "--encoder", "fake", "--duration", 20, "--seeds", 1, "--jobs", 1)
    controllers = ("--controller", "scream", "--controller", "gcc", "--objectives", 0)
    paths = ("catalogue/cellular-3m", "catalogue/lossy-random")
    status, _, error = run_weir("replay", *paths, *options, *controllers, "--out", tmp_path)
    assert status == 0, error
    store = RunStore(tmp_path)
    records = [store.with_series(record) for record in store.read()]
    assert len(records) == 4
    for record in records:
        end_to_end_ms, sums_ms = unclamped_sums_ms(record)
        assert len(end_to_end_ms) > 300
        assert (np.abs(end_to_end_ms - sums_ms) < 5).mean() > 0.95
        measures = record.measures
        assert measures["delay_in_network_ms_p50"] > 0.5 * record.path.one_way_delay_ms
        assert measures["delay_in_jitter_buffer_ms_p50"] > 5
        # Encoding takes no simulated time.
        assert measures["delay_in_encoder_ms_p95"] < 5
    on_cellular = {record.controller: record.measures for record in records if record.scenario == "cellular-3m"}
    # SCReAM's frames wait in the pacer for its window, GCC's in the queue.
    pacer = {name: measures["delay_in_pacer_ms_p95"] for name, measures in on_cellular.items()}
    assert pacer["scream"] > 3 * pacer["gcc"]
    page = (tmp_path / "report.html").read_text()
    assert "Where the delay arises" in page


def test_a_controller_with_a_sender_of_the_simulators_own_is_refused(virtual_call_program, run_weir, tmp_path):
    status, _, error = run_weir("replay", "catalogue/steps", "--stack", "libwebrtc", "--controller", "oracle")
    assert status == 2
    assert "--stack model" in error


def test_a_missing_program_is_named(run_weir, monkeypatch, tmp_path):
    monkeypatch.setenv("WEIR_VIRTUAL_CALL", str(tmp_path / "none"))
    status, _, error = run_weir("replay", "catalogue/steps", "--stack", "libwebrtc")
    assert status == 3
    assert "make webrtc" in error


def test_a_job_that_is_wrong_is_answered(virtual_call_program):
    import subprocess

    job = json.dumps({"job": 1, "scenario": {}, "controller": "gcc", "call": {"encoder": "H264"}})
    answer = subprocess.run(
        [virtual_call_program, "run", "-"], input=job + "\n", capture_output=True, text=True, check=True
    )
    assert "error" in json.loads(answer.stdout)
