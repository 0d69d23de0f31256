"""A model from elsewhere beside weir, gcc, nada and rule: behind the guard, and bare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from weir.qoe_eval.experiments.trust.experiment import ALONE, TRACES, Records
from weir.qoe_eval.measures.families import GCC
from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.summary import run_values
from weir.qoe_eval.report.markdown_table import markdown_table

_SHOWN = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio")


def peer_means(records: Mapping[str, Records], peers: Sequence[str]) -> dict[str, dict[str, dict[str, float]]]:
    """By place (random, traces, all families together), controller and measure: means over runs."""
    families = [r for name, some in records.items() if name not in ("random", TRACES) for r in some]
    places = {name: records[name] for name in ("random", TRACES) if name in records} | {"robust": families}
    return {
        place: {
            controller: {
                metric: mean(values.values()) for metric in _SHOWN if (values := run_values(some, controller, metric))
            }
            for controller in (*peers, GCC, *ALONE)
        }
        for place, some in places.items()
    }


def peer_markdown(means: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """The table: a place and a controller in each row."""
    rows = [
        [place, controller, *(METRICS[metric].display(by.get(metric)) for metric in _SHOWN)]
        for place, by_controller in means.items()
        for controller, by in by_controller.items()
    ]
    return markdown_table(["set", "controller", *(METRICS[metric].label for metric in _SHOWN)], rows)
