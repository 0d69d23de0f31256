"""`muses.md` and `muses.html`: the goals, and the paper's tables and figures beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from weir.qoe_eval.measures.flow_series import read_flow_series
from weir.qoe_eval.report.goal_table import Row, details_markdown, reached_text, rows_markdown
from weir.qoe_eval.report.text import markdown_table
from weir_papers.common import Case
from weir_papers.muses.flow_rows import LEFT_BPS, PAPERS_CUBIC_JAIN, PAPERS_JAIN, jain_by_flows
from weir_papers.muses.muses_measures import covariance, ellipse_area, in_flight
from weir_papers.muses.muses_runs import GLOBAL_TREE, MUSES, MusesResults
from weir_papers.muses.network_rows import means_of, shown_area
from weir_papers.muses.sets import CHANGE, CROSS_TRAFFIC, FLUCTUATING, LTE, SHARING, STEADY, TABLE_III

if TYPE_CHECKING:
    import plotly.graph_objects as go

_PAPERS_NETWORKS = {
    STEADY: "the paper: 99.7 % of the capacity, p95 queueing delay 2.29 times lower than Cubic's",
    FLUCTUATING: "the paper: 97.8 % of the capacity, more than twice less delay than Cubic",
    LTE: "the paper, on Verizon's: above 90 %; 1.26 times Verus' utilisation and 1.29 times less delay",
}
_ELLIPSE_POINTS = 60
_MOST_POINTS = 400
_SHOWN_FLOWS = 3
_HEIGHT_PX = 380


def networks_document(results: MusesResults) -> dict[str, Any]:
    """By set of Table III and who ran it: the means of `Case`, the number of cases, the area of the ellipse in ms times
    points.
    """
    document: dict[str, Any] = {}
    for name in TABLE_III:
        cases = results.cases(name)
        document[name] = {
            who: asdict(mean)
            | {"cases": len(cases[who]), "ellipse": ellipse_area(cases[who]) if len(cases[who]) > 1 else 0}
            for who, mean in means_of(cases).items()
        }
    return document


def muses_markdown(results: MusesResults, rows: Sequence[Row], run: Mapping[str, Any]) -> str:
    """`muses.md`."""
    parts = [
        "# Muses' measurements in Weir's simulator\n",
        f"{run['runs']} runs, {run['networks']} networks of each kind, seeds 1 to {run['seeds'][-1]}, model "
        f"{run['model'].get('name', '')}; {run['finished']}. {reached_text(rows)}\n",
        "The bounds are the paper's figures. Its flows are TCP-like senders with a window; these are calls, whose "
        "feedback comes every 200 ms. The means over networks or seeds decide.\n",
        rows_markdown(rows),
        details_markdown(rows),
    ]
    for name in TABLE_III:
        cases = results.cases(name)
        table = [
            [who, f"{100 * mean.utilisation:.1f}", f"{mean.p95_queueing_delay_ms:.1f}", f"{100 * mean.loss_ratio:.2f}",
             shown_area(ellipse_area(cases[who])) if len(cases[who]) > 1 else ""]
            for who, mean in sorted(means_of(cases).items(), key=lambda item: -item[1].utilisation)
        ]  # fmt: skip
        if table:
            head = ["", "Utilisation, %", "p95 queueing delay, ms", "Loss, %", "Ellipse, ms points"]
            parts += [f"## {name} (Figure 3)\n", f"{_PAPERS_NETWORKS[name]}\n", markdown_table(head, table)]
    who = list(results.records.get(SHARING, {}))
    table = [
        [f"{flows}", *(f"{of[one]:.3f}" if one in of else "" for one in who),
         f"{PAPERS_JAIN[flows]:.3f}", f"{PAPERS_CUBIC_JAIN[flows]:.3f}"]
        for flows, of in jain_by_flows(results).items()
    ]  # fmt: skip
    parts += [
        "## Sharing (Table IV)\n",
        "Jain's index on 36 Mbps, one more flow every 20 s, each for 80 s; of the received rates in the second half of "
        "each period with the same flows.\n",
        markdown_table(["Flows", *who, "The paper's Muses", "The paper's Cubic"], table),
    ]
    return "\n".join(parts)


def muses_page(results: MusesResults, f1: Mapping[str, Mapping[float, float]]) -> str:
    """`muses.html`: Figures 1b, 3, 4, 7 and 8, and the change of network. `f1`: by model and largest delay, ms."""
    # The import takes half a second.
    from plotly.subplots import make_subplots

    rates, delays = "received, kbps", "delay, ms"
    panels: list[tuple[str, str, str, list[go.Scatter]]] = [
        *((f"{name} (Figure 3)", "p95 queueing delay, ms", "utilisation, %", _networks(results, name))
          for name in TABLE_III),
        ("In flight, fluctuating Wi-Fi (Figure 4)", "bandwidth-delay product, packets", "in flight, packets",
         _in_flight(results)),
        ("Imitation (Figure 1b)", "largest one-way delay, ms", "F1",
         [_line(who, list(of), list(of.values())) for who, of in f1.items()]),
        *((f"Sharing, {who} (Figure 7)", "s", rates, _sharing(results, who)) for who in (MUSES, "gcc", "cubic")),
        *(("From Wi-Fi to LTE", "s", what, _over_time(results, CHANGE, what)) for what in (rates, delays)),
        *((f"Cross traffic (Figure 8); {LEFT_BPS / 1e3:,.0f} kbps are left", "s", what,
           _over_time(results, CROSS_TRAFFIC, what)) for what in (rates, delays)),
    ]  # fmt: skip
    drawn = [panel for panel in panels if panel[3]]
    figure = make_subplots(rows=max(1, len(drawn)), cols=1, subplot_titles=[title for title, *_ in drawn])
    for row, (_, x_title, y_title, traces) in enumerate(drawn, start=1):
        for trace in traces:
            figure.add_trace(trace, row, 1)
        figure.update_xaxes(title=x_title, row=row, col=1)
        figure.update_yaxes(title=y_title, row=row, col=1)
    figure.update_layout(title="Muses' figures", height=_HEIGHT_PX * max(1, len(drawn)), template="plotly_white")
    page: str = figure.to_html(include_plotlyjs=True)
    return page


def _line(name: str, x: Any, y: Any, mode: str = "lines") -> go.Scatter:
    import plotly.graph_objects as go

    return go.Scatter(name=name, x=list(x), y=list(y), mode=mode)


def _networks(results: MusesResults, set_name: str) -> list[go.Scatter]:
    """A point for each network, and the ellipse of one standard deviation about the mean."""
    traces = []
    for who, cases in results.cases(set_name).items():
        points = np.array([(case.p95_queueing_delay_ms, 100 * case.utilisation) for case in cases])
        if len(points):
            traces.append(_line(who, points[:, 0], points[:, 1], mode="markers"))
        if len(points) > 1:
            traces.append(_line(f"{who}, 1 sigma", *_ellipse(cases, points.mean(axis=0))))
    return traces


def _ellipse(cases: Sequence[Case], centre: np.ndarray) -> np.ndarray:
    variances, directions = np.linalg.eigh(covariance(cases))
    angles = np.linspace(0, 2 * np.pi, _ELLIPSE_POINTS)
    circle = np.sqrt(np.maximum(variances, 0))[:, None] * np.array([np.cos(angles), np.sin(angles)])
    return np.asarray(directions @ circle + centre[:, None])


def _in_flight(results: MusesResults) -> list[go.Scatter]:
    """Samples of all networks, thinned evenly, and the line on which nothing queues and nothing is idle."""
    traces, widest = [], 0.0
    for who in (MUSES, GLOBAL_TREE, "gcc", "bbr"):
        pairs = [in_flight(record) for record in results.whole(FLUCTUATING, who)]
        if pairs:
            bdp, held = (np.concatenate(side) for side in zip(*pairs, strict=True))
            kept = slice(None, None, max(1, len(bdp) // _MOST_POINTS))
            traces.append(_line(who, bdp[kept], held[kept], mode="markers"))
            widest = max(widest, float(bdp.max(initial=0.0)))
    return [*traces, _line("in flight = BDP", [0, widest], [0, widest])] if traces else []


def _sharing(results: MusesResults, who: str) -> list[go.Scatter]:
    """The received rates of three flows with the first seed."""
    record = next((one for one in results.of(SHARING, who) if len(one.flows) == _SHOWN_FLOWS), None)
    if record is None:
        return []
    whole, traces = results.with_series(who, record), []
    for flow in whole.flows:
        if (series := read_flow_series(whole, flow)) is not None:
            times_s = series.interval_s * np.arange(len(series.receive_rate_bps))
            traces.append(_line(flow.id, times_s[series.active], series.receive_rate_bps[series.active] / 1e3))
    return traces


def _over_time(results: MusesResults, set_name: str, what: str) -> list[go.Scatter]:
    """The first scenario and seed."""
    traces = []
    for who in (MUSES, GLOBAL_TREE, "gcc"):
        records = results.of(set_name, who)
        whole = results.with_series(who, records[0]) if records else None
        series = read_flow_series(whole, whole.flows[0]) if whole else None
        if whole is None or series is None:
            continue
        drawn = {
            "received, kbps": series.receive_rate_bps / 1e3,
            "delay, ms": series.one_way_delay_mean_ms,
        }[what]
        traces.append(_line(who, series.interval_s * np.arange(len(drawn)), drawn))
    return traces
