"""Puts a report together: one HTML file with everything in it, scripts and data too."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from weir.qoe_eval.report.colours import controller_colours

_PAGE = Path(__file__).parent / "page"


def render_page(
    title: str, lead: str, parts: Sequence[str], links: Sequence[tuple[str, str]], data: Mapping[str, Any], script: str
) -> str:
    """The page as text.

    Args:
        title: plain text.
        lead: HTML, the sentences below the title.
        parts: HTML of the sections; empty ones are left out.
        links: id and name of sections for the navigation; those that are not there are left out.
        data: what the script finds as JSON, finite numbers only.
        script: name of the script in `page/` that draws the charts.
    """
    # Plotly takes a third of a second to import, which commands without a report need not wait for.
    from plotly.offline import get_plotlyjs

    body = "\n".join(part for part in parts if part)
    return string.Template(_text("report.html")).substitute(
        title=escape(title),
        css=_text("report.css") + controller_colours(),
        lead=lead,
        navigation="".join(f'<a href="#{name}">{escape(label)}</a>' for name, label in links if f'id="{name}"' in body),
        sections=body,
        footer="One file, no network needed. Charts by plotly.js (MIT licence).",
        plotly=get_plotlyjs(),
        data=json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        script=_text("chart_parts.js") + _text(script),
    )


def _text(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")
