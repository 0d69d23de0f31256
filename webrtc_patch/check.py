"""``weir webrtc``: the patches for libwebrtc, against the source tree of a user."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from weir.webrtc_patch.series import (
    MILESTONES,
    Patch,
    apply_patch,
    copy_files,
    find_root,
    read_series,
    touched_files,
    write_files,
)
from weir.webrtc_patch.syntax_check import check_syntax, find_compiler, include_folders

app = typer.Typer(
    help=f"The patches that put Weir into libwebrtc {MILESTONES}.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def _webrtc() -> None:
    pass


@app.command(short_help="Apply them to a copy, and compile it.")
def check(
    source_tree: Annotated[Path, typer.Argument(help="A checkout of Chromium or WebRTC, or a package's source.")],
    compile_syntax: Annotated[
        bool, typer.Option("--compile/--no-compile", help="Compile the syntax of the touched files as well.")
    ] = True,
    compiler: Annotated[str | None, typer.Option(help="C++ compiler. Default: $CXX, else c++.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Change the tree, once everything fits.")] = False,
) -> None:
    """Applies the patches to a copy of the tree's files, reports hunks that moved or do not fit, and compiles them.

    The tree itself changes only with --apply, and only if every patch fits. Exit status 1: a patch does not fit, or
    the result does not compile.
    """
    patches = read_series()
    root = find_root(source_tree, patches)
    typer.echo(f"patches for libwebrtc {MILESTONES} on {root}")
    with tempfile.TemporaryDirectory(prefix="weir-webrtc-") as folder:
        copy = Path(folder) / "patched"
        copy_files(root, touched_files(patches), copy)
        present = _is_patched(root, patches, Path(folder) / "reverted")
        if not present and not all(_apply(copy, patch) for patch in patches):
            _fail(f"the patches, for libwebrtc {MILESTONES}, do not fit this tree")
        if compile_syntax and not _compile(root, copy, touched_files(patches), compiler):
            _fail("the patched files do not compile")
        if present:
            typer.echo("the patches are in this tree already")
        elif apply:
            write_files(copy, touched_files(patches), root)
            typer.echo(f"applied to {root}")
        else:
            typer.echo("everything fits; nothing was changed (see --apply)")


def _is_patched(root: Path, patches: list[Patch], copy: Path) -> bool:
    """True if the whole series can be reverted, last patch first."""
    copy_files(root, touched_files(patches), copy)
    return all(apply_patch(copy, patch, reverse=True)[0] for patch in reversed(patches))


def _apply(copy: Path, patch: Patch) -> bool:
    fits, messages = apply_patch(copy, patch)
    typer.echo(f"  {patch.name}: {'fits' if fits else 'does not fit'}")
    for line in messages:
        typer.echo(f"    {line}")
    return fits


def _compile(root: Path, patched: Path, paths: list[str], compiler: str | None) -> bool:
    command = find_compiler(compiler)
    includes = include_folders(root, patched)
    compiles = True
    for path in sorted(path for path in paths if path.endswith(".cc")):
        result = check_syntax(command, path, patched, includes)
        typer.echo(f"  {path}: {'does not compile' if result.errors else 'compiles'}")
        for line in result.errors:
            typer.echo(f"    {line.replace(str(patched) + os.sep, '')}", err=True)
        compiles = compiles and not result.errors
    return compiles


def _fail(reason: str) -> None:
    typer.echo(f"weir webrtc check: {reason}; nothing was changed", err=True)
    raise typer.Exit(1)
