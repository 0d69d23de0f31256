"""Pools of controllers from Python: the line, a user's functions, seats that change in a call."""

import pytest
from test_core_module import models, stream  # noqa: F401

import weir

LINE = "pilot=weir copilots=nada,rule fusion=min policy=by_trust"


def test_a_line_is_read_as_in_cpp() -> None:
    assert weir.parse_pool("policy=by_trust pilot=weir  fusion=min copilots=nada,rule") == {
        "line": LINE,
        "pilot": "weir",
        "copilots": ["nada", "rule"],
        "fusion": "min",
        "policy": "by_trust",
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "character 1: pilot=MEMBER is missing"),
        ("pilot=rule fusion=sum", 'character 19: "sum" is not known; use pilot, max,'),
        ("pilot=rule copilots=gcc", "pool member gcc: there is none of this name"),
        ("pilot=rule copilots=weir:b", "pool member weir:b: no such model was given"),
        ("pilot=rule fusion=user", "fusion=user needs a function"),
        ("pilot=rule policy=user", "policy=user needs a function"),
    ],
)
def test_what_cannot_be_is_one_clear_error(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        weir.BandwidthEstimator(pool=line)


def test_a_pool_runs_a_call_and_says_who_sits_where(models) -> None:  # noqa: F811
    model = (models / "rate_bps.onnx").read_bytes()
    estimator = weir.BandwidthEstimator(
        pool="pilot=weir copilots=weir:second,nada fusion=median", model=model, models={"second": model}
    )
    assert len(stream(estimator, 0, 3_000_000, 2_000_000)) > 5
    members = {one["name"]: one for one in estimator.members}
    assert list(members) == ["weir", "weir:second", "nada"]
    assert [one["role"] for one in members.values()] == ["pilot", "copilot", "copilot"]
    assert all(one["rate_bps"] > 0 and one["trust"] == 1 and one["faults"] == 0 for one in members.values())
    estimator.set_pool("pilot=nada copilots=weir fusion=max policy=by_objective")
    assert [one["role"] for one in estimator.members] == ["copilot", "watching", "pilot"]
    with pytest.raises(ValueError, match='"rule" is no member of this pool'):
        estimator.set_pool("pilot=rule")


def test_one_controller_is_a_pool_of_one() -> None:
    estimator = weir.BandwidthEstimator("nada")
    assert [(one["name"], one["role"]) for one in estimator.members] == [("nada", "pilot")]
    alone = weir.BandwidthEstimator(pool="pilot=nada")
    ends = [[e.target_rate_bps for e in stream(each, 0, 5_000_000, 1_000_000)] for each in (estimator, alone)]
    assert ends[0] == ends[1]


def test_a_users_fusion() -> None:
    seen = []

    def lowest(pilot_bps: int, copilots_bps: list[int]) -> int:
        seen.append((pilot_bps, *copilots_bps))
        return min(pilot_bps, *copilots_bps)

    line = "pilot=nada copilots=rule fusion="
    own = weir.BandwidthEstimator(pool=line + "user", fusion=lowest)
    built_in = weir.BandwidthEstimator(pool=line + "min")
    rates = [[e.target_rate_bps for e in stream(each, 0, 5_000_000, 1_000_000)] for each in (own, built_in)]
    assert rates[0] == rates[1]
    assert all(len(each) == 2 for each in seen)
    assert own.counters()["fusion_faults"] == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("answer", [0, -5, 10**15, 2**63 - 1, "much", None, 1 / 3, ZeroDivisionError])
def test_a_fusion_that_fails_is_the_pilots_and_counts(answer) -> None:
    def fuse(pilot_bps: int, copilots_bps: list[int]) -> int:
        if answer is ZeroDivisionError:
            raise ZeroDivisionError
        return answer

    own = weir.BandwidthEstimator(pool="pilot=nada copilots=rule fusion=user", fusion=fuse)
    alone = weir.BandwidthEstimator("nada")
    rates = [[e.target_rate_bps for e in stream(each, 0, 2_000_000, 1_000_000)] for each in (own, alone)]
    assert rates[0] == rates[1]
    assert own.counters()["fusion_faults"] >= 15


def test_a_users_policy_gives_the_seat_away() -> None:
    asked = []

    def policy(view: dict) -> str:
        asked.append(view)
        return "rule" if view["now_us"] > 2_000_000 else "nada"

    estimator = weir.BandwidthEstimator(pool="pilot=nada copilots=rule policy=user", policy=policy)
    stream(estimator, 0, 4_000_000, 1_000_000)
    assert [(one["name"], one["role"]) for one in estimator.members] == [("nada", "watching"), ("rule", "pilot")]
    assert estimator.counters()["pilot_changes"] == 1
    assert set(asked[0]) == {"now_us", "target_rate_bps", "objective", "statistics", "members", "pilot"}
    assert set(asked[0]["statistics"]) == set(weir.INTERVAL_STATISTICS_FIELDS)
    assert asked[-1]["pilot"] == "rule"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("answer", ["nobody", "", 7, None, RuntimeError])
def test_a_policy_that_names_nobody_changes_nothing(answer) -> None:
    def policy(_: dict) -> str:
        if answer is RuntimeError:
            raise RuntimeError
        return answer

    estimator = weir.BandwidthEstimator(pool="pilot=nada copilots=rule policy=user", policy=policy)
    stream(estimator, 0, 2_000_000, 1_000_000)
    assert [one["role"] for one in estimator.members] == ["pilot", "watching"]
