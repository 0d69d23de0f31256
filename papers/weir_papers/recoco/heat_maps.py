"""Figure 7 of ReCoCo: a heat map for each component of the QoE, of models of one trace on all traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape

COMPONENTS: Final = {"rate": "Receiving rate", "delay": "Delay", "loss": "Loss"}
_CELL, _MARGIN, _GAP, _HEAD = 34, 110, 24, 60


def figure_7(document: Mapping[str, Any]) -> str:
    """An SVG image of `figure_7` of `recoco.json`: rows are the traces trained on, columns those tested on; red is 0,
    green 100.
    """
    labels = {row["trace"]: row["label"] for row in document["table_1"][:-1]}
    scores = document["figure_7"]
    side = _CELL * len(labels)
    width, height = _MARGIN + (side + _GAP) * len(COMPONENTS), _HEAD + side + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        ' font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(4, 16, "QoE of models of one trace (rows: trained on, columns: tested on), 0 to 100"),
    ]
    parts += [_text(_MARGIN - 6, _HEAD + _CELL * row + 21, label, "end") for row, label in enumerate(labels.values())]
    for index, (component, title) in enumerate(COMPONENTS.items()):
        left = _MARGIN + (side + _GAP) * index
        parts.append(_text(left + side / 2, _HEAD - 10, title, "middle"))
        values = [[scores[row][column][component]["mean"] for column in labels] for row in labels]
        parts += _cells(left, values)
        parts += [
            f'<g transform="translate({left + _CELL * column + 12},{_HEAD + side + 8}) rotate(60)">'
            f"{_text(0, 0, label)}</g>"
            for column, label in enumerate(labels.values())
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _cells(left: float, values: Sequence[Sequence[float]]) -> list[str]:
    parts = []
    for row, of_row in enumerate(values):
        for column, value in enumerate(of_row):
            x, y = left + _CELL * column, _HEAD + _CELL * row
            hue = 1.2 * min(max(value, 0.0), 100.0)
            parts.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="hsl({hue:.0f},70%,65%)"/>')
            parts.append(_text(x + _CELL / 2, y + 21, f"{value:.0f}", "middle"))
    return parts


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
