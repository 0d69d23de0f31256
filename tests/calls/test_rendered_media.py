"""`weir replay --stack libwebrtc --vmaf`: what receivers of virtual calls render, measured as in calls."""

import json
import shutil
from pathlib import Path

import pytest

from weir_calls.call.media import sent_media
from weir_calls.call.media.rendered_media import run_and_measure
from weir_calls.call.media.source_video import make
from weir_eval.measures.metrics import run_metrics
from weir_eval.records.results_file import read_records
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.call_media import CallMedia
from weir_eval.runs.jobs import ReplayJob
from weir_eval.runs.simulator_worker import JobOutcome


class Receiver:
    """A worker that renders pictures of the source: `shift` frames later ones than it reports."""

    def __init__(self, source, shift=0):
        self.source, self.shift = source, shift

    def run(self, job, time_limit_s):
        assert time_limit_s == 10
        self.folder = Path(job.request["call"]["received"])
        if self.source.is_file():
            shutil.copy(self.source, self.folder / "0.y4m")
        lines = [{"frame_number": n, "render_time_us": 33_333 * n} for n in range(self.shift, 30 + self.shift)]
        (self.folder / "0.y4m.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        record = RunRecord.model_validate({
            "schema": "weir.result/1", "scenario": "s", "controller": "gcc", "seed": 1, "duration_s": 1.0,
            "path": {"one_way_delay_ms": 25.0}, "flows": [{"id": "media", "kind": "rtp", "controller": "gcc"}],
        })  # fmt: skip
        return JobOutcome(job, record=record), False


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return make(tmp_path_factory.mktemp("source"), 320, 180)


@pytest.fixture
def job(source, tmp_path):
    return ReplayJob(
        name="one", request={"call": {}}, key="k", media={"media": {}}, variation={}, model_sha256=None,
        decision_delay_ms=0.0, keep_series=False, simulator=tmp_path, call=CallMedia(vmaf=True, video=source),
    )  # fmt: skip


def test_rendered_pictures_are_measured_and_deleted(source, job):
    vmaf = []
    for shift in (0, 9):
        receiver = Receiver(source, shift)
        outcome, died = run_and_measure(receiver, job, 10)
        assert not died
        assert outcome.job is job
        assert not receiver.folder.exists()
        metrics = run_metrics(outcome.record).run
        assert metrics["visqol_mean"] is metrics["call_score"] is None
        vmaf.append(metrics["vmaf_mean"])
    assert vmaf[0] > 95
    assert vmaf[1] < 60


def test_media_that_cannot_be_measured_are_a_failure(source, job):
    receiver = Receiver(source.with_name("none"))
    outcome, _ = run_and_measure(receiver, job, 10)
    assert "rendered media: " in outcome.error
    assert outcome.record is None
    assert not outcome.refused
    assert not receiver.folder.exists()


def test_the_job_names_what_is_sent_and_the_record_that_it_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(sent_media, "source_video_path", lambda width, height: tmp_path / "video")
    monkeypatch.setattr(sent_media, "source_speech_path", lambda: tmp_path / "speech")
    for check in ("find_ffmpeg", "check_visqol", "check_plcmos"):
        monkeypatch.setattr(sent_media, check, lambda: None)
    media = sent_media.with_sources(CallMedia(vmaf=True))
    assert media.description() == CallMedia().description() | {"vmaf": True}
    files = {"video": str(tmp_path / "video"), "speech": str(tmp_path / "speech")}
    assert media.request() == CallMedia().description() | files
    assert media.run is run_and_measure


def test_without_pictures_there_is_no_vmaf(run_weir, tmp_path):
    options = ("--stack", "libwebrtc", "--encoder", "fake", "--vmaf")
    status, _, error = run_weir("replay", "catalogue/steps", *options, "--out", tmp_path / "out")
    assert status == 2
    assert "--vmaf: frames of the fake encoder have no pictures" in error


def measured(run_weir, out, scenario, duration_s):
    path = out.with_suffix(".scenario.json")
    path.write_text(json.dumps(scenario))
    options = ("--stack", "libwebrtc", "--vmaf", "--media", "video", "--controller", "gcc", "--duration", duration_s)
    status, printed, error = run_weir("replay", path, *options, "--seeds", 1, "--jobs", 1, "--out", out)
    assert status == 0, error
    assert "VMAF" in printed
    assert "VMAF" in (out / "report.html").read_text()
    return read_records(out / "results.jsonl", RunRecord)[0].measures


def test_vmaf_follows_the_rate_of_the_path(virtual_call_program, run_weir, steady, tmp_path):
    fast = measured(run_weir, tmp_path / "fast", steady(rate_bps=4_000_000, duration_s=11), 11)
    slow = measured(run_weir, tmp_path / "slow", steady(rate_bps=120_000, duration_s=8), 8)
    # At its coarsest quantizer VP8 drops frames rather than sending worse ones.
    assert fast["vmaf_mean"] > 95
    assert slow["vmaf_mean"] < 85
    assert slow["vmaf_p5"] < 75
    assert fast["visqol_mean"] > 3
    assert slow["visqol_mean"] is None, "shorter than the speech"
    assert 1 < fast["plcmos_mean"] < 5
    assert slow["plcmos_mean"] is None, "shorter than a window"
    assert fast["call_score"] > slow["call_score"]


def test_measures_are_the_same_again(virtual_call_program, run_weir, steady, tmp_path):
    scenario = steady(rate_bps=1_000_000, duration_s=4)
    measured(run_weir, tmp_path / "one", scenario, 4)
    measured(run_weir, tmp_path / "two", scenario, 4)
    assert (tmp_path / "one/results.jsonl").read_bytes() == (tmp_path / "two/results.jsonl").read_bytes()
