import numpy as np
import pytest
from hand_made import run_record

from weir_eval.measures.delay_stages import STAGES, frame_stages, split_delay, stage_measures
from weir_eval.measures.metrics import run_metrics

MS = 1000
# Captured, encoded, sent, arrived, rendered; the third frame waits for the second, which is repaired.
CAPTURE = np.array([0, 33, 66]) * MS
ENCODED = CAPTURE + 5 * MS
SENT = ENCODED + np.array([10, 20, 0]) * MS
ARRIVED = SENT + np.array([40, 240, 40]) * MS
RENDERED = np.array([150, 350, 350]) * MS
LIP_SYNC = np.array([60, 0, 10]) * MS


def test_each_frame_is_split_into_its_stages():
    found = split_delay(CAPTURE, ENCODED, SENT, ARRIVED, RENDERED, LIP_SYNC)
    decodable_ms = np.array([55, 298, 298])
    assert found.T.tolist() == [
        [5, 5, 5],
        [10, 20, 0],
        (decodable_ms - SENT / MS).tolist(),
        [150 - 55 - 60, 350 - 298, 350 - 298 - 10],
        [60, 0, 10],
    ]
    assert found.sum(axis=1).tolist() == ((RENDERED - CAPTURE) / MS).tolist()


def test_without_an_encoder_its_stage_is_unknown():
    found = split_delay(CAPTURE, None, SENT, ARRIVED, RENDERED, LIP_SYNC)
    assert np.isnan(found[:, 0]).all()
    assert np.nansum(found, axis=1).tolist() == ((RENDERED - CAPTURE) / MS).tolist()
    assert {
        name.removeprefix("delay_in_").removesuffix("_ms_p50") for name in stage_measures(found) if "p50" in name
    } == set(STAGES[1:])


def test_stages_that_overlap_still_add_up():
    # FEC completes a frame before its last packet is sent, and a wait for audio longer than the whole wait.
    found = split_delay([0], [5 * MS], [80 * MS], [60 * MS], [70 * MS], [90 * MS])
    assert found.tolist() == [[5, 55, 0, 0, 10]]


def measures(**columns):
    frames = {
        "capture_time_us": CAPTURE.tolist(), "sent_time_us": SENT.tolist(), "complete_time_us": ARRIVED.tolist(),
        "rendered_time_us": RENDERED.tolist(), "bytes": [1000] * 3, **columns,
    }  # fmt: skip
    flow = {"id": "media", "kind": "rtp", "controller": "gcc", "start_s": 0.0, "stop_s": None}
    record = run_record(controller="gcc", duration_s=1.0, flows=[flow | {"series": {"frames": frames}}])
    return run_metrics(record).run


def test_the_record_of_a_run_has_median_and_p95_of_each_stage():
    replay = measures(lip_sync_us=LIP_SYNC.tolist())
    assert replay["delay_in_encoder_ms_p50"] is None
    assert replay["delay_in_pacer_ms_p50"] == pytest.approx(15)
    assert replay["delay_in_lip_sync_ms_p95"] == pytest.approx(np.percentile([60, 0, 10], 95))
    # A virtual call completes a frame when it is decoded; the arrival is another column.
    columns = {"encoded_time_us": ENCODED.tolist(), "arrived_time_us": ARRIVED.tolist()}
    call = measures(lip_sync_us=LIP_SYNC.tolist(), complete_time_us=RENDERED.tolist(), **columns)
    assert call["delay_in_encoder_ms_p95"] == pytest.approx(5)
    assert call["delay_in_network_ms_p50"] == replay["delay_in_network_ms_p50"]


def test_records_of_earlier_versions_have_no_stages():
    assert measures()["delay_in_network_ms_p50"] is None
    frames = {"capture_time_us": [0], "complete_time_us": [1], "lip_sync_us": [0], "bytes": [1]}
    assert frame_stages(frames, np.array([0]), [1]) is None


def test_the_share_of_lip_sync_is_of_the_sum_over_frames():
    stages_ms = np.array([[np.nan, 0, 50, 0, 50], [np.nan, 0, 100, 0, 0], [np.nan, 0, 10, 0, 190]])
    assert stage_measures(stages_ms)["lip_sync_share"] == pytest.approx(0.6)
