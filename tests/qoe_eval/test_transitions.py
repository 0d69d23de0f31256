"""From the log of a call's estimates to its decisions."""

import numpy as np
import pytest

from weir.qoe_eval.transitions import recorded_call

OBJECTIVE = [0.4, 0.5, 0.1]


def decision(time_us, action=2e6, **more):
    line = {"type": "decision", "time_us": time_us, "reset": False, "objective": OBJECTIVE, "observation": [1e6, 0.1]}
    return line | {"policy_action": action and action / 2, "action": action} | more


def estimate(time_us, target, controller="weir", reason="controller"):
    line = {"type": "estimate", "time_us": time_us, "target_rate_bps": target}
    return line | {"controller": controller, "reason": reason}


def test_decisions_are_joined_with_what_was_in_force_after_them():
    call = recorded_call(
        "k",
        [
            decision(1, reset=True),
            decision(2),
            estimate(2, 3e5, reason="start"),
            {"type": "remb", "time_us": 3, "bitrate_bps": 1},
            decision(100),
            estimate(100, 1.9e6, reason="guard_slew"),
            estimate(150, 1.5e6, reason="guard_overload"),
            decision(200),
            estimate(200, 1.6e6, controller="fallback", reason="fallback"),
            decision(300, action=None),
            estimate(300, 1.4e6, reason="held"),
        ],
        features=2,
    )
    assert call.targets_bps.tolist() == [0.0, 3e5, 1.9e6, 1.6e6, 1.4e6]
    assert call.decided.tolist() == [False, False, True, False, False]
    assert call.resets.tolist() == [True, False, False, False, False]
    assert call.actions.tolist() == [2e6, 2e6, 2e6, 2e6, 0.0]
    assert call.policy_actions[0] == 1e6
    np.testing.assert_array_equal(call.newest, np.array([[1e6, 0.1]] * 5, np.float32))
    np.testing.assert_array_equal(call.objectives, [OBJECTIVE] * 5)


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "decision"},
        decision(1, observation=[1.0]),
        decision(1, observation=[1.0, "2"]),
        decision(1, observation=[1.0, float("nan")]),
        decision(None),
        decision(1, objective=7),
    ],
)
def test_broken_lines_are_skipped(broken):
    assert len(recorded_call("k", [broken, decision(2)], features=2).actions) == 1
