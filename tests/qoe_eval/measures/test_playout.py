"""Rendering times of frames whose capture and arrival are known."""

import numpy as np
import pytest
from hand_made import run_record

from weir.qoe_eval.measures.playout import end_to_end_delay_ms_p95, rendering_times_us

FRAME_US = 33_333
# Encoding, decoding and rendering: the least jitter, 11 ms, is less than the latter two.
STEADY_MS = 10 + 6 + 10


def delays_ms(network_ms, sizes=None, audio_ms=None):
    """End-to-end delays of frames that take these times over the network, 30 a second."""
    network_ms = np.array(network_ms, dtype=float)
    capture_us = FRAME_US * np.arange(len(network_ms), dtype=np.int64)
    complete_us = np.maximum.accumulate(capture_us + (1000 * network_ms).astype(np.int64))
    sizes = [4000] * len(network_ms) if sizes is None else sizes
    audio_ms = network_ms[::3].tolist() if audio_ms is None else audio_ms
    return (rendering_times_us(capture_us, complete_us, sizes, audio_ms, 0.1) - capture_us) / 1000


def test_a_steady_path_costs_its_delay_and_the_least_jitter():
    # Audio has 20 ms of buffer and 20 ms of output, which video need not wait for.
    found = delays_ms([50] * 900)
    assert found[100:] == pytest.approx(50 + STEADY_MS, abs=2)


def test_frames_are_rendered_in_order_and_never_before_they_arrive():
    random = np.random.default_rng(1)
    network_ms = 50 + random.gamma(1.5, 30, 900)
    found = delays_ms(network_ms, random.integers(500, 9000, 900).tolist())
    rendered_us = found * 1000 + FRAME_US * np.arange(900)
    assert (np.diff(rendered_us) >= 0).all()
    assert (found >= network_ms + 10 + 6 - 0.01).all()


def test_jitter_makes_all_frames_wait():
    random = np.random.default_rng(2)
    plain = delays_ms(50 + np.abs(random.normal(0, 30, 900)), audio_ms=[50.0] * 300)
    assert np.median(plain[300:]) > 50 + STEADY_MS + 30
    # Most come early enough to be rendered at equal intervals.
    assert np.median(np.abs(np.diff(plain[300:]))) < 2


def test_video_waits_for_the_peaks_of_audio():
    # A queue of 300 ms in one second of five; the frames between are quick.
    network_ms = np.where(np.arange(900) % 150 < 30, 350, 50)
    with_audio, without = delays_ms(network_ms), delays_ms(network_ms, audio_ms=[50.0] * 300)
    assert np.median(with_audio[450:]) == pytest.approx(50 + 10 + 320 + 20, abs=80)
    assert np.median(without[450:]) < np.median(with_audio[450:]) - 60


def test_a_change_of_the_delay_is_followed():
    for before_ms, after_ms in ((50, 250), (250, 50)):
        found = delays_ms([before_ms] * 450 + [after_ms] * 1800)
        assert found[440] == pytest.approx(before_ms + STEADY_MS, abs=2)
        # The line has a long memory.
        assert after_ms + 10 + 6 <= found[2200:].min() <= found[2200:].max() < after_ms + STEADY_MS + 100


def test_of_a_record():
    capture_us = [FRAME_US * n for n in range(300)]
    frames = {
        "capture_time_us": capture_us,
        "bytes": [4000] * 300,
        "complete_time_us": [t + 50_000 for t in capture_us],
    }
    flow = {"series": {"frames": frames, "one_way_delay_p95_ms": [50.0] * 100}}
    record = run_record(flows=[flow], series={"interval_s": 0.1})
    assert end_to_end_delay_ms_p95(record) == pytest.approx(50 + STEADY_MS, abs=10)
    assert end_to_end_delay_ms_p95(run_record(flows=[{}])) is None
    lost = frames | {"complete_time_us": [None] * 300}
    assert end_to_end_delay_ms_p95(run_record(flows=[{"series": {"frames": lost}}], series={"interval_s": 0.1})) is None
