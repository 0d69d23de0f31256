"""The paper's figures again: 1b, 3, 4, 7 and 8, and a change of network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.qoe_eval.experiments.muses.flow_rows import LEFT_BPS
from weir.qoe_eval.experiments.muses.imitation import LARGEST_DELAYS_MS
from weir.qoe_eval.experiments.muses.measures import covariance, in_flight, path_kinds
from weir.qoe_eval.experiments.muses.network_rows import means_of
from weir.qoe_eval.experiments.muses.results import GLOBAL_TREE, MUSES, Case, MusesResults, Record
from weir.qoe_eval.experiments.muses.sets import CHANGE, CROSS_TRAFFIC, FLUCTUATING, SHARING
from weir.qoe_eval.measures.flow_series import Array, read_flow_series
from weir.qoe_eval.report.chart_rows import capacity_line, chart, flow_line, line, row

Chart = dict[str, Any]
_ELLIPSE_POINTS = 60
_MOST_POINTS = 400
_SHOWN_FLOWS = 3


def networks_chart(results: MusesResults, set_name: str) -> Chart | None:
    """Figure 3: a point a network, and the ellipse of one standard deviation about the mean."""
    cases = {who: some for who, some in results.cases(set_name).items() if some}
    if not cases:
        return None
    lines = [part for who, some in cases.items() for part in _spread(who, some)]
    widest_ms = 1.05 * max(float(np.max(one["x"])) for one in lines if one)
    return _across("p95 queueing delay, ms", set_name, max(1.0, widest_ms), [row("Utilisation, %", lines)])


def _spread(who: str, cases: Sequence[Case]) -> list[Chart | None]:
    delays_ms = np.array([case.p95_queueing_delay_ms for case in cases])
    used = np.array([100 * case.utilisation for case in cases])
    style: dict[str, Any] = {"group": who, "decimals": 1}
    points = line(who, _colour(who), delays_ms, used, marks=True, unit="%", **style)
    if len(cases) < 2:
        return [points]
    variances, directions = np.linalg.eigh(covariance(cases))
    angles = np.linspace(0, 2 * np.pi, _ELLIPSE_POINTS)
    circle = np.sqrt(np.maximum(variances, 0))[:, None] * np.array([np.cos(angles), np.sin(angles)])
    x, y = directions @ circle + np.array([[delays_ms.mean()], [used.mean()]])
    return [points, line(f"{who}, 1 sigma", _colour(who), x, y, unit="%", **style)]


def in_flight_chart(results: MusesResults) -> Chart | None:
    """Figure 4: samples of all networks, thinned evenly; on the dotted line nothing queues and nothing is idle."""
    lines: list[Chart | None] = []
    widest = 0.0
    for who in (MUSES, GLOBAL_TREE, "gcc", "bbr"):
        pairs = [in_flight(record) for record in results.whole(FLUCTUATING, who)]
        if not pairs:
            continue
        bdp, held = (np.concatenate(side) for side in zip(*pairs, strict=True))
        kept = slice(None, None, max(1, len(bdp) // _MOST_POINTS))
        lines.append(line(who, _colour(who), bdp[kept], held[kept], marks=True, unit="packets"))
        widest = max(widest, float(bdp.max(initial=0.0)))
    if not lines:
        return None
    lines.append(line("in flight = BDP", "--zero", np.array([0, widest]), np.array([0, widest]), dash="dot", width=1.2))
    return _across("Bandwidth-delay product, packets", "in flight", 1.03 * widest, [row("In flight, packets", lines)])


def imitation_chart(f1: Mapping[str, Mapping[float, float]]) -> Chart | None:
    """Figure 1b: F1 as the range of delays widens."""
    if not f1:
        return None
    lines = [
        line(who, _colour(who), np.array(list(of)), np.array(list(of.values())), decimals=3) for who, of in f1.items()
    ]
    rows = [row("F1", lines)]
    return _across("Largest one-way delay, ms", "F1", LARGEST_DELAYS_MS[-1], rows)


def sharing_chart(results: MusesResults, who: str) -> Chart | None:
    """Figure 7: what three flows receive, of the first seed."""
    record = next((one for one in results.of(SHARING, who) if len(one["flows"]) == _SHOWN_FLOWS), None)
    if record is None:
        return None
    whole = results.with_series(who, record)
    lines: list[Chart | None] = []
    for place, flow in enumerate(whole["flows"], start=1):
        if (series := read_flow_series(whole, flow)) is not None:
            lines += [] if lines else [capacity_line(series)]
            received = np.where(_inside(series.active, len(series.receive_rate_bps)), series.receive_rate_bps, np.nan)
            lines.append(flow_line(flow["id"], f"--series-{place}", series, received / 1e3, "kbps"))
    return chart(who, "", whole["duration_s"], [row("Received, kbps", lines)])


def change_chart(results: MusesResults) -> Chart | None:
    """From Wi-Fi to LTE on the first network: rates, delay, and the kind of path, where the model chooses one."""
    found = {who: records[0] for who, records in _shown(results, CHANGE).items()}
    return _over_time(results, CHANGE, found) if found else None


def cross_traffic_chart(results: MusesResults) -> Chart | None:
    """Figure 8: the first seed."""
    found = {who: records[0] for who, records in _shown(results, CROSS_TRAFFIC).items()}
    if not found:
        return None
    one = _over_time(results, CROSS_TRAFFIC, found)
    return one | {"note": f"{LEFT_BPS / 1e3:,.0f} kbps are left on average"}


def _shown(results: MusesResults, set_name: str) -> dict[str, Sequence[Record]]:
    records = results.records.get(set_name, {})
    return {who: records[who] for who in (MUSES, GLOBAL_TREE, "gcc") if records.get(who)}


def _over_time(results: MusesResults, set_name: str, found: Mapping[str, Record]) -> Chart:
    rates: list[Chart | None] = []
    delays: list[Chart | None] = []
    kinds: list[Chart | None] = []
    for who, record in found.items():
        whole = results.with_series(who, record)
        series = read_flow_series(whole, whole["flows"][0])
        if series is None:
            continue
        rates += [] if rates else [capacity_line(series)]
        rates.append(flow_line(who, _colour(who), series, series.receive_rate_bps / 1e3, "kbps", group=who))
        delays.append(flow_line(who, _colour(who), series, series.one_way_delay_mean_ms, "ms", np.max, group=who))
        if (chosen := path_kinds(whole, series)) is not None:
            kinds.append(flow_line(who, _colour(who), series, chosen, "", np.max, group=who, step=True))
    name, duration_s = next((record["scenario"], record["duration_s"]) for record in found.values())
    rows = [row("Received, kbps", rates), row("Delay, ms", delays, share=0.8), row("Kind", kinds, share=0.4)]
    return chart(name, "", duration_s, rows)


def _across(x_title: str, name: str, widest: float, rows: Sequence[Chart | None]) -> Chart:
    return chart(name, "", widest, rows) | {"x_title": x_title}


def _inside(active: slice, samples: int) -> Array:
    inside = np.zeros(samples, dtype=bool)
    inside[active] = True
    return np.asarray(inside)


def _colour(who: str) -> str:
    return f"--c-{who}"


def shown_networks(results: MusesResults, set_name: str) -> list[list[str]]:
    """The table beside Figure 3: means of each who, best utilisation first."""
    means = means_of(results.cases(set_name))
    return [
        [who, f"{100 * mean.utilisation:.1f}", f"{mean.p95_queueing_delay_ms:.1f}", f"{100 * mean.loss_ratio:.2f}"]
        for who, mean in sorted(means.items(), key=lambda item: -item[1].utilisation)
    ]
