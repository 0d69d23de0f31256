"""Claims of MVFST-RL, and the values of its repetition."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from weir_eval.report.goal_table import Bound
from weir_papers.claims import Claim, Repetition, Samples, read_result, row_values

# As `mvfst_runs` and `trials` have them, which need numpy and torch.
_LSTM, _RANDOM, _TRAINED_ON, _POLICER = "lstm", "random", 6, "pantheon-7"
_REWARD = Bound("at least", 0.0, strict=True, signed=True)
_LEARNED = "a sixteenth of the paper's network, 300,000 steps in place of 5 million"

ASYNCHRONY_JSON: Final = "asynchrony.json"

CLAIMS: Final = (
    Claim(
        "mvfst/lost_25",
        "bytes lost by a sender that is blocked for 25 of 100 ms (Fig. 1)",
        "1.1 %",
        0.011,
        Bound("at most", 0.033, "%", scale=100, decimals=1),
        Bound("at least", 0.011, "%", scale=100, decimals=1),
        "the shipped model at the sender; how the paper's agent is blocked is not said",
    ),
    Claim(
        "mvfst/lost_50",
        "the same, 50 of 100 ms",
        "11.4 %",
        0.114,
        Bound("at most", 0.342, "%", scale=100, decimals=1),
        Bound("at least", 0.114, "%", scale=100, decimals=1),
        "as above",
    ),
    Claim(
        "mvfst/random_delay",
        "six emulators: mean queueing delay of the agent to that of random actions (Fig. 3a)",
        "far lower",
        None,
        Bound("at most", 0.5, "times"),
        Bound("at most", 1.0, "times", strict=True),
        _LEARNED,
    ),
    Claim(
        "mvfst/random_throughput",
        "six emulators: throughput of the agent to that of random actions (Fig. 3a)",
        "slightly higher",
        None,
        Bound("at least", 1.0, "times", strict=True),
        Bound("at least", 0.8, "times"),
        _LEARNED,
    ),
    Claim(
        "mvfst/policer",
        "unseen policer: throughput of the agent to the best controller's (Fig. 3b)",
        "fails",
        None,
        Bound("at most", 0.5, "times"),
        Bound("at most", 0.8, "times"),
        "its reward has no price for loss, as in the paper",
    ),
    Claim(
        "mvfst/lstm",
        "reward with the LSTM less that without, entropy 0.01 (Fig. 3c, d)",
        "far higher",
        None,
        _REWARD,
        reason=_LEARNED,
    ),
    Claim(
        "mvfst/low_entropy",
        "reward with entropy 0.01 less that with 0.001 (Fig. 3c)",
        "higher",
        None,
        _REWARD,
        reason=_LEARNED,
    ),
    Claim(
        "mvfst/high_entropy",
        "reward with entropy 0.01 less that with 0.1 (Fig. 3c)",
        "higher",
        None,
        _REWARD,
        reason=_LEARNED,
    ),
    Claim(
        "mvfst/vtrace",
        "reward with V-trace less that without correction (section 4)",
        "needed",
        None,
        _REWARD,
        reason="actors are two fragments late here",
    ),
    Claim(
        "mvfst/asynchrony",
        "time of training with actors that do not wait to that with actors that do, equal steps (section 4)",
        "less",
        None,
        Bound("at most", 1.0, "times", strict=True),
        reason="simulated networks wait, the paper's do not; two runners and the learner share two busy cores",
    ),
    Claim(
        "mvfst/front",
        "shipped model, six emulators: none has more throughput at no more p95 delay on",
        "",
        None,
        Bound("at least", 5.0, "of 6", decimals=0),
        Bound("at least", 3.0, "of 6", decimals=0),
        "a row of Weir's own",
    ),
    Claim(
        "mvfst/policer_loss",
        "shipped model, policer: loss",
        "",
        None,
        Bound("at most", 0.05, "%", scale=100, decimals=1),
        reason="a row of Weir's own: where the paper's agent fails",
    ),
)


def measured(document: Mapping[str, Any]) -> dict[str, list[float]]:
    """The values of `mvfst.json`: of trained agents seed by seed."""
    names = {"mvfst/lost_25": "blocked_25", "mvfst/lost_50": "blocked_50", "mvfst/front": "front"}
    found = row_values(document, names | {"mvfst/policer_loss": "policer_loss"})
    by_seed: dict[int, dict[str, Any]] = {}
    for result in document["trials"]:
        by_seed.setdefault(result["seed"], {})[result["variant"]] = result
    best = max(
        (
            case["utilisation"]
            for controller, case in document["cases"].get(_POLICER, {}).items()
            if not controller.startswith("oracle")
        ),
        default=0.0,
    )
    for results in by_seed.values():
        for key, value in _of_seed(results, best).items():
            found.setdefault(f"mvfst/{key}", []).append(value)
    return found


def asynchrony_values(document: Mapping[str, Any]) -> dict[str, list[float]]:
    """The values of `asynchrony.json`, seed by seed."""
    ratios = [found["asynchronous"]["seconds"] / found["synchronous"]["seconds"] for found in document["asynchrony"]]
    return {"mvfst/asynchrony": ratios}


def _of_seed(results: Mapping[str, Any], best: float) -> dict[str, float]:
    reward = {name: result["reward"] for name, result in results.items()}
    cases = results[_LSTM]["cases"]
    trained_on = [cases[f"pantheon-{number}"] for number in range(1, _TRAINED_ON + 1)]

    def ratio(measure: str) -> float:
        pairs = [(by_agent[_LSTM][measure], by_agent[_RANDOM][measure]) for by_agent in trained_on]
        return sum(own / max(other, 1e-3) for own, other in pairs) / len(pairs)

    found = {
        "random_delay": ratio("mean_queueing_delay_ms"),
        "random_throughput": ratio("utilisation"),
        "lstm": reward[_LSTM] - reward["no lstm"],
        "low_entropy": reward[_LSTM] - reward["lstm, low entropy"],
        "high_entropy": reward[_LSTM] - reward["lstm, high entropy"],
        "vtrace": reward[_LSTM] - reward["uncorrected"],
    }
    return found | ({"policer": cases[_POLICER][_LSTM]["utilisation"] / best} if best > 0 else {})


def _commands(out: Path, small: bool) -> list[list[str]]:
    sizes = ["--seeds", "1", "--steps", "3600", "--trained", "1"] if small else []
    return [["paper", "mvfst", *sizes, "--out", str(out)]]


def _measured(out: Path) -> Samples:
    parts = ((out / "mvfst.json", measured), (out / ASYNCHRONY_JSON, asynchrony_values))
    return {key: found for path, read in parts if path.exists() for key, found in read(read_result(path)).items()}


def _model(out: Path) -> Path | None:
    agent = out / "trials/lstm-1.zip"
    return agent if agent.exists() else None


REPETITION: Final = Repetition("mvfst", CLAIMS, _commands, _measured, _model)
