"""``weir webrtc``: the patches for libwebrtc, against the source tree of a user."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from weir.files.output import make_folder, write_bytes
from weir.webrtc_patch.series import read_series, series_names
from weir.webrtc_patch.source_tree import FileResult, Text, find_root, patch_files
from weir.webrtc_patch.syntax_check import check_syntax, find_compiler, include_folders

app = typer.Typer(help="The patches that put Weir into libwebrtc.", no_args_is_help=True)


@app.callback()
def _webrtc() -> None:
    pass


@app.command()
def check(
    source_tree: Annotated[Path, typer.Argument(help="A checkout of Chromium or WebRTC, or a package's source.")],
    series: Annotated[str, typer.Option(help=f"The patch series: {', '.join(series_names())}.")] = "chromium-150",
    compile_syntax: Annotated[
        bool, typer.Option("--compile/--no-compile", help="Compile the syntax of the touched files as well.")
    ] = True,
    compiler: Annotated[str | None, typer.Option(help="C++ compiler (default: $CXX, else c++).")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Change the tree, once everything fits.")] = False,
) -> None:
    """Applies a patch series to a copy of the tree's files, reports where each hunk fits, and compiles them.

    The tree itself is changed only with --apply, and only when all is well. Exit status 1: a patch does not fit, or
    the result does not compile.
    """
    patches = read_series(series)
    root = find_root(source_tree, patches)
    typer.echo(f"{series} on {root}")
    texts, results = patch_files(root, patches)
    for result in results:
        _show(result)
    if any(result.outcome == "refused" for result in results):
        typer.echo(f"weir webrtc check: {series} does not fit this tree; nothing was changed", err=True)
        raise typer.Exit(1)
    if compile_syntax:
        _compile(root, texts, compiler)
    if all(result.outcome == "present" for result in results):
        typer.echo("the series is in this tree already")
    elif apply:
        _write(root, texts)
        typer.echo(f"applied to {root}")
    else:
        typer.echo("everything fits; nothing was changed (see --apply)")


def _show(result: FileResult) -> None:
    typer.echo(f"  {result.patch}: {result.path}: {result.outcome}")
    if result.outcome == "refused" and not result.hunks:
        typer.echo("    the file exists, but should be new")
    for number, placed in enumerate(result.hunks, start=1):
        if placed.line is None:
            typer.echo(f"    hunk {number}: does not fit; these lines are not there:")
            for line in placed.hunk.old:
                typer.echo(f"      {line}")
        else:
            offset = placed.line - placed.hunk.start if placed.hunk.old else 0
            typer.echo(f"    hunk {number}: line {placed.line}" + (f" (moved by {offset:+d})" if offset else ""))


def _compile(root: Path, texts: dict[str, Text], compiler: str | None) -> None:
    command = find_compiler(compiler)
    with tempfile.TemporaryDirectory(prefix="weir-webrtc-") as folder:
        patched = Path(folder)
        for path, text in texts.items():
            (patched / path).parent.mkdir(parents=True, exist_ok=True)
            (patched / path).write_bytes(text.render())
        includes = include_folders(root, patched)
        failed = False
        for path in sorted(path for path in texts if path.endswith(".cc")):
            result = check_syntax(command, path, patched, includes)
            typer.echo(f"  {path}: {'does not compile' if result.errors else 'compiles'}")
            for line in result.errors:
                typer.echo(f"    {line.replace(folder + os.sep, '')}", err=True)
            failed = failed or bool(result.errors)
    if failed:
        typer.echo("weir webrtc check: the patched files do not compile; nothing was changed", err=True)
        raise typer.Exit(1)


def _write(root: Path, texts: dict[str, Text]) -> None:
    """Each file is replaced in one step: a write that fails leaves no half of one."""
    for path, text in texts.items():
        target = root / path
        mode = target.stat().st_mode if target.exists() else None
        make_folder(target.parent, "--apply")
        write_bytes(target, text.render())
        if mode is not None:
            target.chmod(mode)
