"""`weir-encode`: the frames of VP8 and of the fake encoder."""

import json
import subprocess
from pathlib import Path

import pytest

from weir_calls.call.media import source_video

PROGRAM = Path(__file__).parents[2] / "build/release/calls/virtual_call/weir-encode"


def encode(job):
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built: make webrtc")
    return subprocess.run([PROGRAM], input=json.dumps(job) + "\n", capture_output=True, text=True, check=False)


@pytest.mark.parametrize("encoder", ["VP8", "fake"])
def test_frames_have_the_target_rate(encoder, tmp_path):
    video = source_video.make(tmp_path, 160, 90)
    job = {"encoder": encoder, "video": str(video), "rates_bps": [100_000] * 150, "key_frames": [90]}
    frames = json.loads(encode(job).stdout)
    assert [index for index, key_frame in enumerate(frames["key_frame"]) if key_frame] == [0, 90]
    assert 8 * sum(frames["bytes"]) / 5 == pytest.approx(100_000, rel=0.1)
    assert all(2 <= qp <= 106 for qp in frames["qp"])


@pytest.mark.parametrize("change", [{"encoder": "H264"}, {"rates_bps": []}, {"rates_bps": [0]}, {"video": "absent"}])
def test_a_wrong_job_is_refused(change, tmp_path):
    video = source_video.make(tmp_path, 80, 46)
    answer = encode({"encoder": "fake", "video": str(video), "rates_bps": [100_000]} | change)
    assert answer.returncode == 2
    assert answer.stderr
