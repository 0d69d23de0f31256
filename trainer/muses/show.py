"""The kinds of path of a mixture of trees, from its model file alone: a table, and a page with examples."""

from __future__ import annotations

from typing import Any, Final

from rich.table import Table

from weir.errors import InputError
from weir.traces.generate.random_domain import drawn_as, random_scenario
from weir.trainer.model.file import ModelFile

MOST_KINDS: Final = 100
_LONGEST_S: Final = 600.0
_ROW_PX: Final = 260


def described_kinds(model: ModelFile) -> list[dict[str, Any]]:
    """What the model says about its trees (`weir.trainer.muses.kinds.describe_kinds`); empty when it has none."""
    found = _muses(model).get("kinds")
    return [kind for kind in found if isinstance(kind, dict)] if isinstance(found, list) else []


def kinds_table(model: ModelFile) -> Table:
    """A line for each tree; what the file says is shown as it is."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("kind", "share", "splits", "asks most for", "differs by"):
        table.add_column(name, justify="right" if name in ("share", "splits") else "left")
    for number, kind in enumerate(described_kinds(model)):
        share = f"{kind['share']:.1%}" if isinstance(kind.get("share"), float) else ""
        named = "any" if number == 0 else str(number)
        table.add_row(
            named, share, _plain(str(kind.get("splits", ""))), *(_listed(kind.get(key)) for key in ("asks", "differs"))
        )
    return table


def kinds_page(model: ModelFile) -> str:
    """One self-contained HTML page: of each kind how its paths differ from the others, and what examples carry.

    Raises:
        InputError: the model is no mixture of trees, or what it says about itself is none of ours.
    """
    kinds = [kind for kind in described_kinds(model) if "differs" in kind]
    if not kinds:
        raise InputError(f"{model.path}: knows no kinds of path: give a file of `weir muses` with more kinds than one")
    if len(kinds) > MOST_KINDS:
        raise InputError(f"{model.path}: tells of {len(kinds)} kinds of path; a page shows {MOST_KINDS} at most")
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    try:
        titles = [
            title
            for kind in kinds
            for title in (f"kind {kind['kind']}: {kind['share']:.0%} of windows", "capacity of examples, Mbps")
        ]
        figure = make_subplots(len(kinds), 2, subplot_titles=titles, column_widths=[0.4, 0.6])
        for row, kind in enumerate(kinds, start=1):
            differs = {str(name): float(value) for name, value in kind["differs"].items()}
            bars = go.Bar(x=list(differs.values()), y=list(differs), orientation="h", showlegend=False)
            figure.add_trace(bars, row, 1)
            for name in kind.get("examples", []):
                times_s, rates_mbps = _capacity(str(name), float(_muses(model)["duration_s"]))
                line = go.Scatter(x=times_s, y=rates_mbps, name=str(name), line_shape="hv", showlegend=False)
                figure.add_trace(line, row, 2)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{model.path}: its provenance about kinds of path is broken: {error!r}") from None
    figure.update_xaxes(title="standard deviations from the mean of all windows", row=len(kinds), col=1)
    figure.update_xaxes(title="s", row=len(kinds), col=2)
    figure.update_layout(
        title=f"{model.name} {model.version}: kinds of path", height=_ROW_PX * len(kinds), template="plotly_white"
    )
    page: str = figure.to_html(include_plotlyjs=True)
    return page


def _muses(model: ModelFile) -> dict[str, Any]:
    found = model.provenance.get("muses") if isinstance(model.provenance, dict) else None
    return found if isinstance(found, dict) else {}


def _listed(values: Any) -> str:
    return _plain(", ".join(f"{name} {value}" for name, value in values.items())) if isinstance(values, dict) else ""


def _plain(text: str) -> str:
    """Without what a terminal would obey."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _capacity(name: str, duration_s: float) -> tuple[list[float], list[float]]:
    """Times in s and rates in Mbps of a held-out scenario of the random domain."""
    split, seed = drawn_as(name) or (None, 0)
    if split != "held_out" or not 0 < duration_s <= _LONGEST_S:
        raise ValueError(f"{name!r} for {duration_s:g} s")
    capacity = random_scenario(seed, split=split, duration_s=duration_s).forward.capacity
    assert capacity is not None
    trace = capacity.trace()
    return [*trace.times_s, duration_s], [rate / 1e6 for rate in (*trace.rates_bps, trace.rates_bps[-1])]
