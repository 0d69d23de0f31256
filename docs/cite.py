"""Puts values of the records in `docs/results/` into documents, for the blocks of code in `docs/src`.

A reference is {RECORD:KEY} or {RECORD:KEY|FORMAT}, as {opponents:bundled/weir/challenge|.1f}. FORMAT is Python's, `.1f`
by default, or `kbps` for a rate in bit/s; `ci` at its end adds the interval. `over gcc` is by how many percent the
value of a controller is above that of another. A record of another model or simulator than the repository's is an
error, except for one of an earlier model or of earlier code.
"""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from weir_cli.errors import InputError
from weir_cli.files.input import sha256_of_file
from weir_eval.fingerprint import read_fingerprints
from weir_eval.measurement import Measurement, read_measurement, stale

ROOT = Path(__file__).parents[1]
_REFERENCE = re.compile(r"\{([\w-]+):([^{}|]+)(?:\|([^{}]*))?\}")
_WIDTH = 120


@functools.cache
def records() -> Mapping[str, Measurement]:
    """The records by the name of their file.

    Raises:
        InputError: one cannot be read, or is no longer about the repository.
    """
    model = sha256_of_file(ROOT / "estimator/models/weir.onnx")
    fingerprints = read_fingerprints(ROOT / "simulator/fingerprints.json")
    found = {path.stem: read_measurement(path) for path in sorted((ROOT / "docs/results").glob("*.json"))}
    for name, record in found.items():
        if why := stale(record, model, fingerprints):
            raise InputError(f"docs/results/{name}.json: {why}; run `{record.command}`, or `make results`")
    return found


def cited(text: str) -> str:
    """A text with its references replaced.

    Raises:
        InputError: there is no such record or value.
    """
    return _REFERENCE.sub(lambda found: _value(*found.groups()), text)


def paragraph(text: str) -> None:
    """Prints paragraphs and list items with values, wrapped. Items begin with "- "; a blank line ends a paragraph."""
    blocks = re.split(r"\n\s*\n|\n(?=- )", textwrap.dedent(text).strip())
    for index, block in enumerate(blocks):
        item = block.startswith("- ")
        if index and not (item and blocks[index - 1].startswith("- ")):
            print()
        words = " ".join(cited(block).split())
        print(
            textwrap.fill(words, _WIDTH, subsequent_indent="  " * item, break_long_words=False, break_on_hyphens=False)
        )


def cite_if_earlier(record: str, values: str) -> None:
    """Prints a paragraph if these values, such as "These calls", are of an earlier model than the shipped one, or of
    earlier code.
    """
    found = records()[record]
    if found.subject == "earlier code":
        paragraph(f"{values} are of an earlier state of the code ({found.date}, commit {found.commit}).")
        print()
    if found.subject == "earlier model":
        paragraph(
            f"{values} are of an earlier model ({found.date}, commit {found.commit}); its successor has made none yet."
        )
        print()


def cite_command(record: str) -> None:
    """Prints by which command, and so from how many seeds, the values of a record come."""
    print()
    paragraph(f"Measured by `{records()[record].command}`.")


def table(head: Sequence[str], *rows: Sequence[str]) -> None:
    """Prints a table in Markdown, whose cells may have references."""
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(map(cited, row))} |")


def compare(
    record: str, controllers: Mapping[str, str], *rows: tuple[str, str, str], best: bool = True, form: str = ".1f"
) -> None:
    """Prints a table of one measure a row: its label, set and measure, a column for each controller by its label. The
    highest value of a row is bold if `best`.
    """
    found = records()[record].values
    lines = []
    for label, name, measure in rows:
        values = {key: found.get(f"{name}/{key}/{measure}") for key in controllers.values()}
        highest = max((value.value for value in values.values() if value), default=None)
        cells = [
            ("**{}**" if best and value.value == highest else "{}").format(number(value.value, form)) if value else ""
            for value in values.values()
        ]
        lines.append([label, *cells])
    table(["", *controllers], *lines)


def number(value: float, form: str) -> str:
    """A number in a format; a percent sign stands apart, and 0 has no sign."""
    if form.endswith("kbps"):
        value, form = value / 1e3, form.replace("kbps", ",.0f")
    text = format(value, form).replace("%", " %")
    return text if re.search("[1-9]", text) else text.lstrip("+-")


def _value(record: str, key: str, form: str | None) -> str:
    if record not in records():
        raise InputError(f"{{{record}:{key}}}: no docs/results/{record}.json")
    if key not in records()[record].values:
        raise InputError(f"{{{record}:{key}}}: docs/results/{record}.json has no such value")
    value, low, high = records()[record].values[key]
    form = form or ".1f"
    if form.startswith("over "):
        name, _, measure = key.rsplit("/", 2)
        other = records()[record].values[f"{name}/{form.removeprefix('over ')}/{measure}"]
        return f"{100 * (value / other.value - 1):.0f} %"
    spec = form.removesuffix("ci").strip()
    text = number(value, spec)
    if form.endswith("ci") and low is not None and high is not None:
        text += f" [{number(low, spec.lstrip('+'))}, {number(high, spec.lstrip('+'))}]"
    return text
