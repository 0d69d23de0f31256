"""Small pieces of HTML: escaped text, tables, interval marks, heat colours. Everything that comes from a file is
escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from weir.qoe_eval.measures.metric_table import Metric
from weir.qoe_eval.report.colours import other_colours

_BAD, _MIDDLE, _GOOD = (214, 84, 62), (232, 186, 84), (48, 158, 116)


def section(identifier: str, title: str, note: str, body: str) -> str:
    """A section; `note` and `body` are HTML."""
    return f'<section id="{identifier}">\n<h2>{escape(title)}</h2>\n<p class="note">{note}</p>\n{body}\n</section>'


def table(head: Sequence[str], rows: Iterable[str], css_class: str = "") -> str:
    """A table that scrolls sideways on small screens; `head` and `rows` are HTML."""
    cells = "".join(f"<th scope=col>{cell}</th>" for cell in head)
    head_and_body = f"<thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="scroll {css_class}"><table>{head_and_body}</table></div>'


def row(cells: Sequence[str], reference: bool = False) -> str:
    """A table row of HTML cells; the first one is its heading. Cells that bring their own `<td` keep it."""
    first, *others = cells
    rest = "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in others)
    return f"<tr{' class=reference' if reference else ''}><th scope=row>{first}</th>{rest}</tr>"


def own_colours(names: Iterable[str]) -> str:
    """Colours for the controllers of a user's own, in turn; their names are letters, digits, _ and -."""
    return f"<style>{other_colours(names)}</style>"


def controller_name(name: str) -> str:
    """The name with its colour."""
    return f'<span class=swatch style="--colour: var(--c-{escape(name)}, var(--zero))"></span>{escape(name)}'


def scenario_link(name: str) -> str:
    """A button that shows the scenario's time series."""
    return f'<button class=link data-scenario="{escape(name)}" title="Show its time series">{escape(name)}</button>'


def heading(metric: Metric) -> str:
    """Column heading: label, unit, and which way is better as an arrow."""
    unit = f"<small>{escape(metric.unit)} {metric.arrow}</small>" if metric.unit else f"<small>{metric.arrow}</small>"
    return f'<span title="{escape(metric.meaning)}">{escape(metric.label)}</span>{unit}'


def unit_of_cells(label: str, metric: Metric) -> str:
    """Heading of the first column of a table whose other cells are all of one metric: it says their unit."""
    return f"{escape(label)}<small>values: {escape(metric.unit)} {metric.arrow}</small>"


def interval(metric: Metric, ci: Sequence[float | None], signed_ends: bool = False) -> str:
    """The two ends of an interval for people; a dash where there is none."""
    if ci[0] is None or ci[1] is None:
        return "–"
    show = signed if signed_ends else Metric.display
    return f"{show(metric, ci[0])} … {show(metric, ci[1])}"


def signed(metric: Metric, value: float) -> str:
    """A difference for people, with its sign; 0 has none."""
    text = metric.display(abs(value))
    return text if float(text.replace(",", "")) == 0 else ("+" if value > 0 else "−") + text


def interval_mark(
    mean: float, ci: tuple[float | None, float | None], domain: tuple[float, float], colour: str, zero: bool = False
) -> str:
    """A dot with its interval on a line from domain[0] to domain[1]; with `zero`, the place of 0 is marked."""
    low, high = domain
    width = high - low or 1.0

    def place(value: float) -> str:
        return f"{2 + 96 * min(1.0, max(0.0, (value - low) / width)):.1f}%"

    def line(start: str, end: str, style: str) -> str:
        return f'<line x1="{start}" x2="{end}" y1="11" y2="11" {style}/>'

    parts = [line("2%", "98%", 'stroke="var(--line)"')]
    if zero:
        parts.append(f'<line x1="{place(0)}" x2="{place(0)}" y1="1" y2="21" stroke="var(--zero)" stroke-width="1.5"/>')
    if ci[0] is not None and ci[1] is not None:
        style = f'stroke="{colour}" stroke-width="5" stroke-opacity=".45" stroke-linecap="round"'
        parts.append(line(place(ci[0]), place(ci[1]), style))
    parts.append(f'<circle cx="{place(mean)}" cy="11" r="4.5" fill="{colour}"/>')
    return f'<svg class=interval aria-hidden="true">{"".join(parts)}</svg>'


def scale(low: str, high: str) -> str:
    """The heading above a column of interval marks: the two ends of their line."""
    return f"<small class=scale><span>{low}</span><span>{high}</span></small>"


def heat_cell(metric: Metric, value: float | None, domain: tuple[float, float], best: bool) -> str:
    """A table cell coloured from bad to good over the domain (worst value, best value)."""
    if value is None:
        return '<td class="heat even">–</td>'
    worst, best_value = domain
    position = min(1.0, max(0.0, (value - worst) / (best_value - worst))) if best_value != worst else 1.0
    ends = (_BAD, _MIDDLE, 2 * position) if position < 0.5 else (_MIDDLE, _GOOD, 2 * position - 1)
    red, green, blue = (round(a + (b - a) * ends[2]) for a, b in zip(ends[0], ends[1], strict=True))
    css_class = "heat best" if best else "heat"
    return f'<td class="{css_class}" style="background: rgba({red},{green},{blue},.36)">{metric.display(value)}</td>'


def selector(name: str, label: str, metrics: Sequence[Metric]) -> str:
    """A drop-down that shows one of the parts made by `metric_part` with the same name."""
    options = "".join(f"<option value={metric.name}>{escape(metric.label)}</option>" for metric in metrics)
    return f'<div class=controls><label>{escape(label)} <select data-shows="{name}">{options}</select></label></div>'


def metric_part(name: str, metric: Metric, first: bool, body: str) -> str:
    """One alternative of a `selector`; only the first is shown without JavaScript."""
    return f'<div data-part-of="{name}" data-metric="{metric.name}"{"" if first else " hidden"}>{body}</div>'


def count(number: int, noun: str) -> str:
    """A number and what it counts."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def incomplete(failures: Sequence[str], noun: str) -> str:
    """The notice of what did not complete, twenty of them in words; nothing where all did."""
    if not failures:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in failures[:20])
    more = f"<p>and {len(failures) - 20} more</p>" if len(failures) > 20 else ""
    title = f"{count(len(failures), noun)} did not complete"
    return f"<section class=notice id=failures><h2>{title}</h2><ul>{items}</ul>{more}</section>"
