"""Rewards against values worked out by hand from the papers."""

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_eval.measures.call_quality import call_quality
from weir_eval.measures.call_score import delay_factor
from weir_eval.measures.viewer import estimate_vmaf
from weir_train.configuration.training import EnvironmentSettings
from weir_train.gym.rewards import (
    REWARD_RANGES,
    REWARDS,
    call,
    challenge,
    challenge_objectives,
    mocc,
    mocc_objectives,
    recoco,
    recoco_delay,
    recoco_loss,
    resolve_reward,
    viewer,
)
from weir_train.gym.rewards import recoco_utilisation as utilisation
from weir_train.gym.step import STEP_FIELDS, VIEWED_FIELDS, StepRecord


def record(rate=0.8, delay_ms=50.0, loss=0.0, base_ms=25.0, capacity=1e6):
    return StepRecord.of(
        receive_rate_bps=np.asarray(rate) * 1e6,
        achievable_bps=capacity,
        fair_share_bps=capacity,
        capacity_bps=capacity,
        one_way_delay_mean_ms=delay_ms,
        base_one_way_delay_ms=base_ms,
        loss_ratio=loss,
    )


def test_mocc_equation_2():
    # <0.4, 0.5, 0.1>: 0.4 * 0.8 + 0.5 * 25/50 + 0.1 * 0.9
    assert mocc(record(loss=0.1), np.array([0.4, 0.5, 0.1])) == pytest.approx(0.32 + 0.25 + 0.09)
    np.testing.assert_allclose(mocc_objectives(record(rate=1.3, delay_ms=20.0)), [1.0, 1.0, 1.0])
    np.testing.assert_allclose(mocc_objectives(record(rate=0.0, capacity=0.0, delay_ms=100.0)), [1.0, 0.25, 1.0])


@pytest.mark.parametrize(("u", "value"), [(0.0, -1.0), (0.325, -0.50015), (0.65, -0.0003), (0.9, 0.918), (1.0, 1.0)])
def test_recoco_equation_3(u, value):
    assert utilisation(np.array(u)) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("delay_ms", "value"), [(0.0, 1.0), (100.0, 0.333), (150.0, -0.0005), (175.0, -0.5), (200.0, -1.0), (900.0, -1.0)]
)
def test_recoco_equation_4(delay_ms, value):
    assert recoco_delay(np.array(delay_ms)) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("loss", "value"), [(0.0, 1.0), (0.02, 1.0), (0.05, 0.39), (0.1, 0.0), (0.15, -0.75), (0.2, -1.0), (0.5, -1.0)]
)
def test_recoco_equation_5(loss, value):
    assert recoco_loss(np.array(loss)) == pytest.approx(value, abs=1e-9)


def test_recoco_equation_6():
    # Without loss: 0.4 Ru + 0.4 Rd + 0.2 Rl; u = 0.8: Ru = 0.672; 100 ms: Rd = 0.333.
    assert recoco(record(delay_ms=100.0)) == pytest.approx(0.4 * 0.672 + 0.4 * 0.333 + 0.2)
    # With loss 0.05: thirds.
    assert recoco(record(delay_ms=100.0, loss=0.05)) == pytest.approx(0.333 * (0.672 + 0.333 + 0.39))
    # All good: forced to 1. Above the capacity: forced to -1.
    assert recoco(record(rate=0.95, delay_ms=26.0, loss=0.01)) == 1.0
    assert recoco(record(rate=1.01, delay_ms=26.0)) == -1.0


def test_challenge_is_on_the_fixed_scale():
    # Throughput 0.8, latency (400 - 100) / 375 = 0.8, loss 0.9; weights times 1, 1.2, 6.
    value = challenge(record(delay_ms=100.0, loss=0.1), np.array([0.5, 0.25, 0.25]))
    assert value == pytest.approx((0.5 * 0.8 + 0.25 * 1.2 * 0.8 + 0.25 * 6.0 * 0.9) / (0.5 + 0.3 + 1.5))
    value = challenge(record(delay_ms=100.0, loss=0.1), np.array([0.4, 0.5, 0.1]))
    assert value == pytest.approx((0.2 * 0.8 + 0.3 * 0.8 + 0.3 * 0.9) / 0.8)
    # A delay of the path's own does not count, whatever it is; nor does one below it.
    for base_ms in (5.0, 150.0, 390.0):
        assert challenge_objectives(record(delay_ms=base_ms, base_ms=base_ms))[1] == 1.0
    assert challenge_objectives(record(delay_ms=20.0))[1] == 1.0
    assert challenge_objectives(record(delay_ms=400.0, base_ms=350.0))[1] == pytest.approx(0.5)
    # Deeper queues are worse, down to -1.
    values = [float(challenge_objectives(record(delay_ms=delay))[1]) for delay in (25, 200, 400, 600, 2000)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 5
    assert values[-1] == -1.0


@pytest.mark.parametrize("name", REWARDS)
def test_batches_equal_single_records(name):
    generator = np.random.default_rng(1)
    batch = StepRecord(generator.uniform(0, 2, (4, 5, len(STEP_FIELDS + VIEWED_FIELDS))))
    objective = generator.dirichlet((1, 1, 1), (4, 5))
    together = REWARDS[name](batch, objective)
    assert together.shape == (4, 5)
    assert np.isfinite(together).all()
    for index in np.ndindex(4, 5):
        assert REWARDS[name](StepRecord(batch.values[index]), objective[index]) == together[index]


@pytest.mark.parametrize("name", REWARDS)
def test_nothing_arrived_and_no_capacity_is_finite(name):
    value = REWARDS[name](StepRecord(np.zeros(len(STEP_FIELDS + VIEWED_FIELDS))), np.array([0.4, 0.5, 0.1]))
    assert np.isfinite(value)
    assert -1 <= value <= 1 + 1e-9


def test_every_reward_has_a_range():
    assert REWARD_RANGES.keys() == REWARDS.keys()


def test_an_unknown_reward_is_named_beside_those_there_are():
    assert resolve_reward("mocc", "model") is mocc
    assert resolve_reward(mocc, "model") is mocc
    with pytest.raises(InputError, match="reward 'mock': one of mocc, recoco, challenge, viewer"):
        resolve_reward("mock", "model")


def test_the_viewers_reward_is_the_quality_of_what_moves():
    shown = StepRecord.of(video_bitrate_bps=[0.0, 5e5, 2e6, 2e6, 2e6], frozen_share=[1.0, 0.0, 0.0, 0.5, 3.0])
    none, low, high, half, late = viewer(shown)
    assert none == 0 < low < high < 1
    assert half == pytest.approx(high / 2)
    assert late == pytest.approx(-2 * high)


def test_the_calls_reward_is_the_call_quality():
    shown = StepRecord.of(
        video_bitrate_bps=[0.0, 2e6, 2e6, 2e6], frozen_share=[1.0, 0.0, 0.5, 0.0],
        end_to_end_delay_ms=[0.0, 80.0, 80.0, 400.0],
    )  # fmt: skip
    parts = [
        {"video_quality": float(estimate_vmaf(2e6)), "frozen_share": frozen, "delay_factor": float(delay_factor(delay))}
        for frozen, delay in ((1.0, 80), (0.0, 80), (0.5, 80), (0.0, 400))
    ]
    assert 100 * call(shown) == pytest.approx([call_quality(some) for some in parts])


def test_the_viewers_reward_needs_rendered_frames():
    assert resolve_reward("call", "libwebrtc") is call
    assert resolve_reward("viewer", "libwebrtc") is viewer
    with pytest.raises(InputError, match="reward 'viewer': the stack 'model' renders no frames; 'libwebrtc' does"):
        resolve_reward("viewer", "model")
    with pytest.raises(AttributeError, match="video_bitrate_bps where nothing is rendered"):
        viewer(StepRecord(np.zeros(len(STEP_FIELDS))))
    settings = {"features": ("loss_ratio",), "reward": "viewer", "action": {"kind": "log_rate"}}
    assert EnvironmentSettings(**settings, stack="libwebrtc").reward == "viewer"
    with pytest.raises(ValueError, match="renders no frames"):
        EnvironmentSettings(**settings)


def test_a_dummy_reward_is_known_by_its_line_in_the_registry(monkeypatch):
    monkeypatch.setitem(REWARDS, "dummy", lambda record, objective: record.loss_ratio)
    assert resolve_reward("dummy", "model")(record(loss=0.5), None) == 0.5
    settings = EnvironmentSettings(features=("loss_ratio",), reward="dummy", action={"kind": "log_rate"})
    assert settings.reward == "dummy"
    with pytest.raises(ValueError, match="reward 'mock': one of mocc, recoco, challenge, viewer, call, dummy"):
        EnvironmentSettings(features=("loss_ratio",), reward="mock")
