import numpy as np
import pytest
from hand_made import run_record
from hypothesis import given, settings
from hypothesis import strategies as st

from weir_eval.measures.call_quality import call_quality, mean_delay_factor
from weir_eval.measures.call_score import call_score, delay_factor
from weir_eval.measures.metrics import run_metrics
from weir_eval.measures.viewer import estimate_vmaf

PERFECT = {"vmaf_mean": 100.0, "frozen_share": 0.0, "delay_factor": 1.0, "concealed_share": 0.0}


def quality(**changes):
    return call_quality(PERFECT | changes)


def test_the_weights_that_documents_state():
    assert quality() == 100
    assert quality(vmaf_mean=90.0) == pytest.approx(89, abs=0.5)
    assert quality(frozen_share=0.1) == pytest.approx(90)
    assert quality(concealed_share=0.05) == pytest.approx(97, abs=0.5)
    factors = delay_factor([100, 200, 300, 400, 1000, 1e6])
    assert factors == pytest.approx([1, 0.98, 0.87, 0.75, 0.45, 0.36], abs=0.01)
    assert quality(delay_factor=float(factors[3])) == pytest.approx(75, abs=0.5)


def test_the_delay_factor_is_of_the_seconds_not_of_the_median():
    # Ten frames a second; of ten seconds three have 1 s of delay, of which the median shows nothing.
    rendered_us = np.arange(100) * 100_000
    delays_ms = np.where(rendered_us >= 7_000_000, 1000.0, 50.0)
    found = mean_delay_factor(rendered_us, delays_ms)
    assert found == pytest.approx(0.7 + 0.3 * float(delay_factor(1000)))
    assert np.median(delays_ms) == 50
    # Seconds are those of the call, not of the clock.
    assert mean_delay_factor(rendered_us + 499_999, delays_ms) == found
    # A second with few frames counts as one with many.
    fewer = np.r_[0:70, [70, 80, 90]]
    assert mean_delay_factor(rendered_us[fewer], delays_ms[fewer]) == pytest.approx(found)


def test_frames_of_unknown_delay_do_not_count():
    assert mean_delay_factor([0, 1, 2_000_000], [400.0, np.nan, np.nan]) == pytest.approx(float(delay_factor(400)))
    assert mean_delay_factor([0], [np.nan]) is None
    assert mean_delay_factor([], []) is None


def test_without_pictures_the_estimate_stands_in_and_without_audio_nothing_is_concealed():
    assert quality(vmaf_mean=None, video_quality=70.0) == quality(vmaf_mean=70.0)
    assert quality(video_quality=10.0) == quality()
    assert quality(concealed_share=None) == quality()


def test_what_is_unknown_has_no_quality():
    for name in ("vmaf_mean", "frozen_share", "delay_factor"):
        assert quality(**{name: None}) is None


def test_a_call_that_showed_nothing_has_a_quality_of_0():
    assert call_quality({"frozen_share": 1.0}) == 0


LOWER = {"frozen_share": 1, "concealed_share": 1}
HIGHER = {"vmaf_mean": 100, "delay_factor": 1}
CALLS = st.fixed_dictionaries({name: st.floats(0, highest) for name, highest in (LOWER | HIGHER).items()})


@settings(deadline=None)
@given(CALLS, st.sampled_from(list(LOWER | HIGHER)), st.data())
def test_each_part_counts_in_its_direction_and_the_quality_is_bounded(call, name, data):
    more = call | {name: data.draw(st.floats(call[name], (LOWER | HIGHER)[name]))}
    low, high = (call, more) if name in HIGHER else (more, call)
    assert 0 <= call_quality(low) <= call_quality(high) + 1e-9 <= 100 + 2e-9


def replayed(delays_ms, **changes):
    """The measures of a replay of ten frames a second, 5 kB each, with these end-to-end delays."""
    capture_us = [100_000 * i for i in range(len(delays_ms))]
    rendered = [t + round(1000 * d) for t, d in zip(capture_us, delays_ms, strict=True)]
    frames = {
        "capture_time_us": capture_us, "complete_time_us": rendered, "rendered_time_us": rendered,
        "bytes": [5000] * len(delays_ms),
    }  # fmt: skip
    flow = {"id": "media", "kind": "rtp", "controller": "gcc", "start_s": 0.0, "stop_s": None}
    record = run_record(controller="gcc", duration_s=10.0, flows=[flow | {"series": {"frames": frames}} | changes])
    return run_metrics(record).run


def test_a_replay_has_the_quality_of_its_frames():
    fast, slow = replayed([80.0] * 100), replayed([400.0] * 100)
    assert fast["call_quality"] == pytest.approx(quality(vmaf_mean=float(estimate_vmaf(400e3))))
    assert slow["call_quality"] == pytest.approx(0.75 * fast["call_quality"], rel=0.01)
    assert slow["delay_factor"] == pytest.approx(float(delay_factor(400)))


def test_measures_of_rendered_media_replace_the_estimate():
    found = replayed([80.0] * 100, rendered={"vmaf_mean": 90.0, "concealed_share": 0.1})
    assert found["call_quality"] == pytest.approx(quality(vmaf_mean=90.0, concealed_share=0.1))


def test_without_freezes_and_at_one_delay_it_is_the_call_score():
    parts = {"vmaf_mean": 80.0, "concealed_share": 0.02, "frozen_share": 0.0, "delay_factor": float(delay_factor(300))}
    assert call_quality(parts) == pytest.approx(
        call_score(parts | {"freeze_count": 0.0, "end_to_end_delay_ms_p50": 300.0}, 60.0)
    )
