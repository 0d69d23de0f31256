"""Puts a page together: one HTML file with everything in it, scripts and data too.

A page is a list of sections, each a list of blocks, all plain data. HTML is written in the templates of `page/` alone,
where Jinja2 escapes every text.
"""

from __future__ import annotations

import base64
import functools
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir_eval.options.shared import own_names
from weir_eval.report import display
from weir_eval.report.display import controller_colours, other_colours
from weir_eval.report.page_blocks import Charts, Figure, Folded, Grid, Section, cut
from weir_eval.report.page_table import Block

if TYPE_CHECKING:
    from jinja2 import Environment


_PAGE = Path(__file__).parent / "page"


def render_page(
    title: str,
    lead: Sequence[Block | None],
    sections: Sequence[Section | None],
    controllers: Sequence[str] = (),
    libwebrtc: str = "",
    hidden: Sequence[str] = (),
) -> str:
    """The page as text.

    Args:
        title: of the page.
        lead: below the title.
        sections: in their order; those that are None are left out.
        controllers: those shown; a user's among them get colours.
        libwebrtc: the version whose controllers are shown; an old one stands behind their names.
        hidden: the controllers whose lines in charts of rows are drawn only after a click on the legend.
    """
    page = _environment().get_template("page.html")
    shown = [section for section in sections if section is not None]
    blocks = [block for some in (lead, *(section.blocks for section in shown)) for block in _with_inner(some)]
    charts = [chart for block in blocks if isinstance(block, Charts) for chart in block.charts]
    places = {id(chart): place for place, chart in enumerate(charts)}
    data = {
        **{block.id: block.data for block in blocks if isinstance(block, Figure)},
        "charts": charts,
        "hidden": hidden,
        "names": {name: display.dated(name, libwebrtc) for name in controllers},
    }
    return page.render(
        title=title,
        lead=lead,
        sections=shown,
        place_of=lambda chart: places[id(chart)],
        data=data,
        colours=_colours(controllers),
        libwebrtc=libwebrtc,
    )


def _with_inner(blocks: Sequence[Block | None]) -> Iterator[Block]:
    for block in filter(None, blocks):
        yield block
        for inner in [block.blocks] if isinstance(block, Folded) else block.cells if isinstance(block, Grid) else []:
            yield from _with_inner(inner)


@functools.cache
def _environment() -> Environment:
    # Commands without a report need not wait for it.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"colour": display.colour, "cut": cut, "dated": display.dated, "packed": _packed}
    environment.globals |= {"own_file": _own_file, "plotly": _plotly}
    return environment


def _own_file(name: str) -> str:
    """A stylesheet or script of `page/` as it is. Not escaped are only these and the colours."""
    from markupsafe import Markup

    return Markup((_PAGE / name).read_text(encoding="utf-8"))


def _colours(controllers: Sequence[str]) -> str:
    """CSS with the controllers' colours. Of other names only letters, digits, _ and - remain."""
    from markupsafe import Markup

    own = own_names(controllers)
    return Markup(controller_colours() + (other_colours(own, controllers) if own else ""))


def _packed(data: dict[str, Any]) -> str:
    """JSON as the page's scripts unpack it, base64 of zlib: nothing in it can end a script element."""
    return _compressed(json.dumps(data, separators=(",", ":"), allow_nan=False))


@functools.cache
def _plotly() -> str:
    # It takes a third of a second to import.
    from plotly.offline import get_plotlyjs

    return _compressed(get_plotlyjs())


def _compressed(text: str) -> str:
    best = 9
    return base64.b64encode(zlib.compress(text.encode(), best)).decode("ascii")
