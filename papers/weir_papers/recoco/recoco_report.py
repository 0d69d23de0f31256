"""`recoco.json` and `recoco.md`: ReCoCo's Tables I and II, measured and published side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from weir_eval.report.display import dated
from weir_eval.report.text import markdown_table
from weir_papers.recoco.models import DEPARTURES, Configuration
from weir_papers.recoco.results import TraceResult
from weir_papers.recoco.tables import ORDERS, PAPER_TRACES, Order, PaperScores, PaperTrace

MEASURES = {"rate": "QoE receiving rate", "delay": "QoE delay", "loss": "QoE loss", "overall": "Overall QoE"}
MEAN = "mean"
# By trace, one result a seed.
BySeed = Mapping[str, Sequence[TraceResult]]


@dataclass(frozen=True)
class SearchRow:
    """A model of the search on its trace: its mean reward, and its overall QoE."""

    trace: str
    configuration: Configuration
    mean_reward: float
    overall: float


@dataclass(frozen=True)
class RecocoResults:
    """Everything that was measured. `own` has the models on their own trace, `gcc` and `gcc_remb` GCC at the sender and
    at the receiver, `single` one model on all traces, by order; `cross` the models of one trace on all, by the trace
    that they were trained on (Fig. 7); `search` every configuration, on every trace.
    """

    own: BySeed
    gcc: BySeed
    gcc_remb: BySeed
    single: Mapping[Order, BySeed]
    orders: Mapping[Order, Sequence[str]]
    configurations: Mapping[str, str]
    search: Sequence[SearchRow] = ()
    cross: Mapping[str, BySeed] = field(default_factory=dict)

    @property
    def traces(self) -> list[PaperTrace]:
        """Those measured, in the paper's order."""
        return [trace for trace in PAPER_TRACES if trace.name in self.own]


def recoco_document(results: RecocoResults, run: Mapping[str, Any]) -> dict[str, Any]:
    """`recoco.json`. A measured value is {"mean", "sd" (over seeds; null for one seed), "seeds": [...]}, a published
    one a number; the row "mean" is over the traces, its spread that of the seeds' means.
    """
    rows = [*results.traces, None]
    table_1, table_2 = [], []
    for trace in rows:
        about: dict[str, Any] = {"trace": trace.name, "label": trace.label} if trace else {"trace": MEAN, "label": MEAN}
        table_1.append(
            about
            | {
                "configuration": results.configurations[trace.name] if trace else None,
                "measured": {
                    "recoco": _measured(results, results.own, trace),
                    "gcc": _measured(results, results.gcc, trace),
                    "gcc-remb": _measured(results, results.gcc_remb, trace),
                },
                "paper": {
                    "recoco": _published(results, lambda t: t.own, trace),
                    "gcc": _published(results, lambda t: t.gcc, trace),
                },
            }
        )
        table_2.append(
            about
            | {
                "measured": {order: _measured(results, results.single[order], trace) for order in ORDERS},
                "paper": {order: _published(results, _single(order), trace) for order in ORDERS},
            }
        )
    return {
        "schema": "weir.recoco/1",
        "run": dict(run),
        "departures": list(DEPARTURES),
        "orders": {order: list(traces) for order, traces in results.orders.items()},
        "search": [
            {"trace": row.trace, **asdict(row.configuration), "mean_reward": row.mean_reward, "overall": row.overall}
            for row in results.search
        ],
        "figure_7": {
            trained_on: {trace.name: _measured(results, by_trace, trace) for trace in results.traces}
            for trained_on, by_trace in results.cross.items()
        },
        "table_1": table_1,
        "table_2": table_2,
    }


def score_rows(document: Mapping[str, Any], measure: str = "overall") -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table of one measure, measured beside published: models of one trace and GCC (Table I), one
    model of all traces by order (Table II).
    """
    gcc = dated("gcc", document["run"]["versions"].get("libwebrtc", ""))
    head = [
        "trace",
        "per trace",
        "paper",
        gcc,
        "paper's GCC",
        "gcc-remb",
        *(name for o in ORDERS for name in (o, "paper")),
    ]
    rows = []
    for first, second in zip(document["table_1"], document["table_2"], strict=True):
        row = [first["label"]]
        for table, names in ((first, ("recoco", "gcc", "gcc-remb")), (second, ORDERS)):
            for name in names:
                row.append(_cell(table["measured"][name][measure]))
                # The paper has one GCC.
                row += [f"{table['paper'][name][measure]:.2f}"] if name in table["paper"] else []
        rows.append(row)
    return head, rows


def recoco_markdown(document: Mapping[str, Any]) -> str:
    """`recoco.md`."""
    run = document["run"]
    mean_1, mean_2 = document["table_1"][-1], document["table_2"][-1]
    parts = [
        "# ReCoCo's experiment in Weir's simulator\n",
        f"Models of one trace: {run['steps']:,} steps. Models of all traces: {run['steps_all']:,} steps. "
        f"Seeds {', '.join(map(str, run['seeds']))}; {run['finished']}. Measured values are mean ± standard deviation "
        "over the seeds; GCC, which learns nothing, runs once. Every run has its trace from the beginning.\n",
        _gains(mean_1, mean_2),
        "Each table has the paper's Table I (models trained on the trace itself, and GCC) and Table II (one model for "
        "all traces, by order of training).\n",
    ]
    for measure in reversed(MEASURES):
        parts += [f"## {MEASURES[measure]}\n", markdown_table(*score_rows(document, measure))]
    labels = {row["trace"]: row["label"] for row in document["table_1"][:-1]}
    for measure, title in list(MEASURES.items())[:-1]:
        parts += [
            f"## {title} of models of one trace on all (Figure 7)\n",
            "Rows: trained on; columns: tested on.\n",
            markdown_table(
                ["", *labels.values()],
                [
                    [labels[trained_on], *(_cell(by_trace[trace][measure]) for trace in labels)]
                    for trained_on, by_trace in document["figure_7"].items()
                ],
            ),
        ]
    parts += [
        "## Search\n",
        f"Each configuration on each trace, {run['search_steps']:,} steps, one seed: mean reward, overall QoE.\n",
        _search_table(document["search"], labels),
        "## Configurations of the models of one trace\n",
        "".join(f"- {row['label']}: {row['configuration']}\n" for row in document["table_1"][:-1]),
        "## Orders\n",
        "- random: each episode draws a trace\n",
        "".join(f"- {order}: {', '.join(traces)}\n" for order, traces in document["orders"].items()),
        "## Differences from the paper\n",
        "".join(f"- {text}\n" for text in document["departures"]),
    ]
    return "\n".join(parts)


def _search_table(search: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> str:
    rows: dict[str, list[str]] = {}
    for row in search:
        words = Configuration(row["algorithm"], row["delayed"], row["tuned"]).words
        rows.setdefault(words, [words]).append(f"{row['mean_reward']:.3f}, {row['overall']:.1f}")
    return markdown_table(["", *labels.values()], list(rows.values())) if rows else "The paper's, without a search.\n"


def _gains(mean_1: Mapping[str, Any], mean_2: Mapping[str, Any]) -> str:
    def gain(measured: Mapping[str, Any], published: Mapping[str, Any]) -> str:
        here = [
            f"{measured['overall']['mean'] - mean_1['measured'][name]['overall']['mean']:+.2f}"
            for name in ("gcc", "gcc-remb")
        ]
        paper = published["overall"] - mean_1["paper"]["gcc"]["overall"]
        return f"{here[0]}, at the receiver {here[1]} (paper: {paper:+.2f})"

    lines = [f"- models of one trace: {gain(mean_1['measured']['recoco'], mean_1['paper']['recoco'])}\n"]
    lines += [
        f"- one model, order {order}: {gain(mean_2['measured'][order], mean_2['paper'][order])}\n" for order in ORDERS
    ]
    return "Mean gain over GCC at the sender in overall QoE, each against the GCC of its own simulator:\n\n" + "".join(
        lines
    )


def _measured(results: RecocoResults, values: BySeed, trace: PaperTrace | None) -> dict[str, dict[str, Any]]:
    by_measure = {}
    for measure in MEASURES:
        samples = np.array(
            [
                [float(getattr(result.scores, measure)) for result in values[averaged.name]]
                for averaged in ([trace] if trace else results.traces)
            ]
        ).mean(axis=0)
        by_measure[measure] = {
            "mean": float(samples.mean()),
            "sd": float(samples.std(ddof=1)) if len(samples) > 1 else None,
            "seeds": samples.tolist(),
        }
    return by_measure


def _single(order: Order) -> Callable[[PaperTrace], PaperScores]:
    return lambda trace: trace.single[order]


def _published(
    results: RecocoResults, scores: Callable[[PaperTrace], PaperScores], trace: PaperTrace | None
) -> dict[str, float]:
    rows = [asdict(scores(averaged)) for averaged in ([trace] if trace else results.traces)]
    return {measure: float(np.mean([row[measure] for row in rows])) for measure in MEASURES}


def _cell(value: Mapping[str, Any]) -> str:
    spread = value["sd"]
    return f"{value['mean']:.2f}" if spread is None else f"{value['mean']:.2f} ± {spread:.2f}"
