"""Puts a page together: one HTML file with everything in it, scripts and data too.

A page is a list of sections: plain data each, and the template in `page/` that lays it out. HTML is written in those
templates alone, where Jinja2 escapes every text.
"""

from __future__ import annotations

import base64
import functools
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.console import counted
from weir.qoe_eval.options.shared import own_names
from weir.qoe_eval.report import display
from weir.qoe_eval.report.display import controller_colours, other_colours
from weir.qoe_eval.report.text import TOO_FEW

if TYPE_CHECKING:
    from jinja2 import Environment


_PAGE = Path(__file__).parent / "page"

# Beside the page, whose name is `weir.files.output.REPORT`.
SUMMARY = "summary.json"

View = dict[str, Any]
"""The values of a template, by name: texts, numbers, and rows of them."""


@dataclass(frozen=True)
class Section:
    """One section of a page.

    Attributes:
        id: of its element.
        link: its name in the navigation; one without is a notice and not in it.
        template: the macro that lays it out, as FILE/MACRO, or of `page/shared.html` by its name alone.
        view: what the template shows, by name.
        heading: where it is not the link.
        is_folded: it is closed until a click, or a link to it; its charts are drawn then.
    """

    id: str
    link: str
    template: str
    view: View
    heading: str = ""
    is_folded: bool = False


def render_page(
    lead_template: str,
    title: str,
    lead: View,
    sections: Sequence[Section | None],
    data: View,
    controllers: Sequence[str] = (),
    libwebrtc: str = "",
) -> str:
    """The page as text.

    Args:
        lead_template: the macro of the sentences below the title, named as in a `Section`.
        title: of the page.
        lead: what those sentences show, by name.
        sections: in their order; those that are None are left out.
        data: what the scripts find as JSON, finite numbers only.
        controllers: those shown; a user's among them get colours.
        libwebrtc: the version whose controllers are shown; an old one stands behind their names.
    """
    page = _environment().get_template("page.html")
    return page.render(
        title=title,
        lead=_macro(lead_template, libwebrtc)(lead),
        sections=[(one, _macro(one.template, libwebrtc)(one.view)) for one in sections if one is not None],
        data={**data, "names": {name: display.dated(name, libwebrtc) for name in controllers}},
        colours=_colours(controllers),
    )


def _macro(template: str, libwebrtc: str) -> Callable[[View], str]:
    file, _, name = template.rpartition("/")
    module = _environment().get_template(f"{file or 'shared'}.html").make_module({"libwebrtc": libwebrtc})
    found: Callable[[View], str] = getattr(module, name)
    return found


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
    environment.filters |= {"colour": display.colour, "counted": counted, "dated": display.dated, "packed": _packed}
    environment.globals |= {"too_few": TOO_FEW, "own_file": _own_file, "plotly": _plotly}
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


def _packed(data: View) -> str:
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
