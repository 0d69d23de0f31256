"""`muses.html`: the goals, and the paper's figures and tables beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.experiments.muses.figures import (
    change_chart,
    cross_traffic_chart,
    imitation_chart,
    in_flight_chart,
    networks_chart,
    sharing_chart,
    shown_networks,
)
from weir.qoe_eval.experiments.muses.flow_rows import PAPERS_CUBIC_JAIN, PAPERS_JAIN, jain_by_flows
from weir.qoe_eval.experiments.muses.measures import ellipse_area
from weir.qoe_eval.experiments.muses.model_rows import TEACHER
from weir.qoe_eval.experiments.muses.network_rows import shown_area
from weir.qoe_eval.experiments.muses.results import GLOBAL_TREE, MUSES, MusesResults
from weir.qoe_eval.experiments.muses.sets import CONGESTION_CONTROLS, SHARING, TABLE_III
from weir.qoe_eval.report.goal_table import Row, reached_text
from weir.qoe_eval.report.page_template import Section, render_page
from weir.qoe_eval.report.sections.runs import failures, versions_of

_GOALS_NOTE = (
    "The limits are the paper's figures. Its flows are TCP-like senders with a window; ours are calls, whose feedback "
    "comes every 200 ms. Means over networks or seeds decide."
)
_PAPERS_NETWORKS = {
    "steady-wifi": "the paper: 99.7 % of the capacity, p95 queueing delay 2.29 times lower than Cubic's",
    "fluctuating-wifi": "the paper: 97.8 % of the capacity, more than twice less delay than Cubic",
    "lte": "the paper, on Verizon's: above 90 %; 1.26 times Verus' utilisation and 1.29 times less delay",
}


def render(
    results: MusesResults, rows: Sequence[Row], f1: Mapping[str, Mapping[float, float]], run: Mapping[str, Any]
) -> str:
    """The page as text.

    Args:
        results: what was run.
        rows: of the goals.
        f1: by model and largest delay, ms; empty where it was not measured.
        run: what `muses.json` says of the run.

    Raises:
        InputError: a file of series is damaged.
    """
    charts: list[dict[str, Any]] = []
    sections = [
        failures(run["failures"], "run"),
        Section("goals", "Goals", "goals.html", {"rows": rows, "note": _GOALS_NOTE}),
        *(_networks(results, name, charts) for name in TABLE_III),
        _figure(charts, "in-flight", "In flight (Figure 4)", [in_flight_chart(results)],
                "Fluctuating Wi-Fi, samples of 100 ms. The paper: BBR's error 3.17 times Muses', one tree's 1.78"),
        _figure(charts, "imitation", "Imitation (Figure 1b)", [imitation_chart(f1)],
                "F1 against the oracle's actions. The paper: one tree loses 9 % to the LSTM where delays vary most"),
        _sharing(results, charts),
        _figure(charts, "change", "From Wi-Fi to LTE", [change_chart(results)],
                "At 30 s. A mixture chooses anew every 10 s; a kind of 0 is none yet"),
        _figure(charts, "cross-traffic", "Cross traffic (Figure 8)", [cross_traffic_chart(results)],
                "A video of at most 2.5 Mbps on 3 Mbps. The paper: 1.34 times GCC's bitrate, in calls"),
        _what_was_run(results, run),
    ]  # fmt: skip
    lead = {"runs": run["runs"], "model": run["model"]["name"], "reached": reached_text(rows)}
    controllers = list({who: None for by in results.records.values() for who in by} | dict.fromkeys(_UNLISTED))
    title = "Weir: what Muses measured"
    return render_page("muses/page.html", title, lead, sections, {"charts": charts}, "rows.js", controllers)


# Not among the simulator's controllers; named always, so that their colours do not depend on what was run.
_UNLISTED = (*CONGESTION_CONTROLS, GLOBAL_TREE, TEACHER)


def _networks(results: MusesResults, name: str, charts: list[dict[str, Any]]) -> Section | None:
    areas = {who: ellipse_area(cases) for who, cases in results.cases(name).items() if len(cases) > 1}
    head = ["", "Utilisation, %", "p95 queueing delay, ms", "Loss, %", "Ellipse, ms points"]
    table = [
        [*cells, shown_area(areas[cells[0]]) if cells[0] in areas else ""] for cells in shown_networks(results, name)
    ]
    note = f"A point a network, with the ellipse of one standard deviation; {_PAPERS_NETWORKS[name]}"
    title = f"{name.replace('-', ' ')} (Figure 3)".replace("wifi", "Wi-Fi").replace("lte", "LTE")
    return _figure(charts, name, title[0].upper() + title[1:], [networks_chart(results, name)], note, head, table)


def _sharing(results: MusesResults, charts: list[dict[str, Any]]) -> Section | None:
    found = jain_by_flows(results)
    who = list(results.records.get(SHARING, {}))
    head = ["Flows", *who, "The paper's Muses", "The paper's Cubic"]
    table = [
        [f"{flows}", *(f"{of[one]:.3f}" if one in of else "" for one in who),
         f"{PAPERS_JAIN[flows]:.3f}", f"{PAPERS_CUBIC_JAIN[flows]:.3f}"]
        for flows, of in found.items()
    ]  # fmt: skip
    note = (
        "Jain's index on 36 Mbps, one more flow every 20 s, each for 80 s; of what flows receive in the second half of "
        "each stretch with the same flows. Below, three of them"
    )
    drawn = [sharing_chart(results, one) for one in (MUSES, "gcc", "cubic")]
    return _figure(charts, "sharing", "Sharing (Table IV, Figure 7)", drawn, note, head, table)


def _figure(
    charts: list[dict[str, Any]], name: str, title: str, drawn: Sequence[dict[str, Any] | None], note: str,
    head: Sequence[str] = (), table: Sequence[Sequence[str]] = (),
) -> Section | None:  # fmt: skip
    """A section with charts, which join those of the page, and a table; nothing without a chart."""
    kept = [one for one in drawn if one]
    if not kept:
        return None
    first = len(charts)
    charts += kept
    shown = [{"index": index, "name": one["name"], "note": one["note"]} for index, one in enumerate(kept, first)]
    view = {"title": title, "note": note, "head": head, "table": table, "charts": shown}
    return Section(name, title.partition(" (")[0], "muses/figure.html", view)


def _what_was_run(results: MusesResults, run: Mapping[str, Any]) -> Section:
    records = [record for by in results.records.values() for some in by.values() for record in some]
    entries = [
        ("Finished", run["finished"]),
        ("Objective", "balanced"),
        ("Networks of Table III", f"{run['networks']} of each kind"),
        ("Seeds", ", ".join(map(str, run["seeds"]))),
        ("Model", f"{run['model']['name']}, SHA-256 {run['model']['sha256']}"),
        *((who, file) for who, file in run["files"].items() if who != MUSES),
        ("Versions", versions_of(records)),
    ]
    return Section("run", "What was run", "run.html", {"command": run["command"], "entries": entries})
