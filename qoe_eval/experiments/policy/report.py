"""`policy.json` and `policy.md`: the table of goals, and the scores behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.experiments.policy.results import PolicyResults
from weir.qoe_eval.experiments.policy.sets import COMPARED_SETS
from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.summary import scenario_differences, scenario_means
from weir.qoe_eval.report.goal_table import Row, details_markdown, reached_text, rows_document, rows_markdown
from weir.qoe_eval.report.markdown_table import markdown_table

_KEPT = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio", "recoco", "jain_index", "tcp_share")
# Sets of at most this many scenarios are shown whole, larger ones by their worst.
_SHOWN_WHOLE = 20
_WORST = 15
_METHOD = """\
- Runs are simulated by weir-sim; gcc is libwebrtc's own with LossBasedBweV2 on. Objective balanced, score `challenge`.
- Gains are paired by scenario and seed, averaged over the seeds of a scenario, then over scenarios; intervals by the
  BCa bootstrap over scenarios, of six or more. Wins are scenarios whose mean over seeds is strictly higher.
- A seed draws where in its trace a run begins, small differences of delay, the sender's clock and the media's phase,
  the same for all controllers. A capacity that does not repeat (halved link, RFC 8867) keeps its times.
- Distance closed: sum of weir - gcc over sum of oracle - gcc.
- Traces: whole, 25 ms one way, queue of 300 ms of the mean capacity, OpenNetLab entries above 60 Mbps cut to that.
  Steady links: the same path, 60 s. Random scenarios: the held-out split from seed 1,000,000 on.
- Worst delays: one run of each scenario, with the first seed; one-way delay, the path's own included.
- Start: to the end of the first 0.3 s whose mean receive rate is 90 % of the link. Halved link: from the step to the
  beginning of the first second in which every 100 ms have a mean queueing delay under 50 ms.
- Steering: neither utilisation nor p95 queueing delay rises from throughput to balanced, nor from balanced to latency;
  means over seeds; 0.2 points and 1 ms in the wrong direction are ties, and count as right.
- RFC 8867: rates from 20 s after the last flow's start to the first one's end; means over seeds.
"""


def policy_document(rows: Sequence[Row], results: PolicyResults, run: Mapping[str, Any]) -> dict[str, Any]:
    """`policy.json`: schema, run, rows, and by set and scenario the means over seeds of each controller's measures."""
    sets = {}
    for name, one in results.sets.items():
        means = scenario_means(results.records.get(name, []))
        descriptions = {scenario.name: scenario.description for scenario in one.scenarios}
        sets[name] = {"missing": one.missing} | {
            "scenarios": {
                scenario: {"description": descriptions[scenario]}
                | {c: {m: values[m] for m in _KEPT if m in values} for c, values in by_controller.items()}
                for scenario, by_controller in means.items()
            }
        }
    return rows_document("weir.policy/1", rows, run) | {"sets": sets}


def policy_markdown(rows: Sequence[Row], results: PolicyResults, run: Mapping[str, Any]) -> str:
    """`policy.md`."""
    model = run["model"]
    parts = [
        "# The policy against its goals\n",
        f"Model {model['name']} (SHA-256 {model['sha256'][:12]}), seeds {run['seeds'][0]} to {run['seeds'][-1]}, "
        f"{run['runs']} runs, {run['finished']}. {reached_text(rows)}\n",
        rows_markdown(rows),
    ]
    if run["failures"]:
        parts.append(f"{len(run['failures'])} runs did not complete: {'; '.join(run['failures'][:5])}\n")
    parts.append(details_markdown(rows))
    parts += [_set_table(name, results) for name in COMPARED_SETS if results.records.get(name)]
    parts.append("## How it is measured\n\n" + _METHOD)
    return "\n".join(parts)


def _set_table(name: str, results: PolicyResults) -> str:
    means = scenario_means(results.records[name])
    descriptions = {scenario.name: scenario.description for scenario in results.sets[name].scenarios}
    ordered = [scenario for scenario in descriptions if scenario in means]
    title = f"## Challenge score: {name}\n"
    if len(ordered) > _SHOWN_WHOLE:
        differences = scenario_differences(means, "gcc")
        ordered = sorted(differences, key=lambda scenario: differences[scenario])[:_WORST]
        title = f"## Challenge score: {name}, the {_WORST} worst against gcc\n"
    rows = []
    for scenario in ordered:
        values = [means[scenario].get(c, {}).get("challenge") for c in ("weir", "gcc", "rule", "oracle")]
        words = f" ({descriptions[scenario]})" if descriptions[scenario] else ""
        rows.append([f"{scenario}{words}", *(METRICS["challenge"].display(value) for value in values)])
    return title + "\n" + markdown_table(["Scenario", "weir", "gcc", "rule", "oracle"], rows)
