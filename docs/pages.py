"""Writes the pages that cite records or code, from their sources in `docs/src`, each at the path that it has there.

`cog` runs the blocks of Python in a source with the names of `cite.py`, and what they print takes their place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from cogapp.cogapp import Cog, CogError

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "docs/src"


def pages(
    names: Annotated[list[str] | None, typer.Argument(help="These pages, of all.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail where a page is not what it would be.")
    ] = False,
) -> None:
    """Write the pages of docs/src."""
    found = {str(source.relative_to(SOURCES).with_suffix("")): source for source in sorted(SOURCES.rglob("*.md.in"))}
    wrong = 0
    for name in names or found:
        if name not in found:
            typer.echo(f"{name}: has no source in docs/src", err=True)
            raise typer.Exit(2)
        try:
            text = page(found[name])
        except CogError as error:
            typer.echo(f"docs/src/{name}.in: {error}", err=True)
            raise typer.Exit(1) from None
        written = ROOT / name
        if check and (not written.exists() or written.read_text() != text):
            typer.echo(f"{name}: not what docs/src/{name}.in gives; run `make cite`", err=True)
            wrong += 1
        elif not check:
            written.write_text(text)
    raise typer.Exit(1 if wrong else 0)


def page(source: Path) -> str:
    """The page of a source."""
    cog = Cog()
    cog.options.delete_code = True
    cog.options.prologue = "from cite import *"
    cog.options.print_output = True
    return str(cog.process_string(source.read_text(), fname=str(source)))


if __name__ == "__main__":
    typer.run(pages)
