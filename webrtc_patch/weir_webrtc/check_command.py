"""``weir webrtc``: checks and applies the patches for libwebrtc in a user's source tree."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from weir_cli.errors import InputError, MissingComponent
from weir_cli.files.input import why

_PATCHES = Path(__file__).parent / "patches"
# The versions of libwebrtc that the series was tested on.
_MILESTONES = "main of January to August 2026"
# Paths from the folder that a user may pass (a Chromium checkout, the folder of `gclient`, a package's source) to the
# root of the patches' paths.
_ROOTS = (".", "third_party/webrtc", "src/third_party/webrtc", "src")
# Overrides settings of the user's git that would change the result.
_GIT = ("git", "-c", "apply.whitespace=nowarn", "-c", "apply.ignoreWhitespace=no", "-c", "core.autocrlf=false")

app = typer.Typer(
    help=f"The patches that put Weir into libwebrtc {_MILESTONES}.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def _webrtc() -> None:
    pass


@app.command(short_help="See if they fit a source tree, and apply them.")
def check(
    source_tree: Annotated[Path, typer.Argument(help="A checkout of Chromium or WebRTC, or a package's source.")],
    apply: Annotated[bool, typer.Option("--apply", help="Change the tree, once everything fits.")] = False,
) -> None:
    """Reports whether the patches fit the tree, and which hunks moved or do not fit.

    The tree itself changes only with --apply, and only if every patch fits. Exit status 1: a patch does not fit.
    """
    series = read_series()
    root = find_root(source_tree, series)
    typer.echo(f"patches for libwebrtc {_MILESTONES} on {root}")
    if apply_series(root, series, "--check", "--reverse")[0]:
        typer.echo("the patches are in this tree already")
        return
    fit, messages = apply_series(root, series, *([] if apply else ["--check"]))
    for line in messages:
        typer.echo(f"  {line}")
    if not fit:
        typer.echo(f"weir webrtc check: the patches, for libwebrtc {_MILESTONES}, do not fit this tree", err=True)
        raise typer.Exit(1)
    typer.echo(f"applied to {root}" if apply else "everything fits; nothing was changed (see --apply)")


def read_series() -> str:
    """Returns the patches (quilt style) in the order in which they apply."""
    return "".join((_PATCHES / name).read_text(encoding="utf-8") for name in (_PATCHES / "series").read_text().split())


def changed_files(series: str) -> list[str]:
    """Returns the files that the patches change, relative to the source tree, without those that they create."""
    return sorted(set(re.findall(r"^--- a/(.*)$", series, re.MULTILINE)))


def find_root(tree: Path, series: str) -> Path:
    """Returns the folder in `tree` that the paths of the series are relative to.

    Raises InputError when `tree` is no folder, or does not have the files that the series changes.
    """
    if not tree.is_dir():
        raise InputError(f"{tree}: no such folder")
    needed = changed_files(series)
    for root in (tree / candidate for candidate in _ROOTS):
        if all((root / path).is_file() for path in needed):
            return root.resolve()
    raise InputError(
        f"{tree}: no source tree of libwebrtc: it has no {needed[-1]}, nor is that in {', '.join(_ROOTS[1:])} of it. "
        f"The patches are for {_MILESTONES}"
    )


def apply_series(folder: Path, series: str, *options: str) -> tuple[bool, list[str]]:
    """Applies the whole series, or nothing, in a folder with `git apply`. Returns success and git's messages.

    A hunk whose lines have moved is applied at their new place, never to different lines.
    Raises MissingComponent when git cannot be run.
    """
    # The folder may be outside any repository or inside another one, and a hook may have set git's variables.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"LC_ALL": "C", "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
    command = [*_GIT, "apply", "--verbose", *options]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, input=series.encode(), capture_output=True, check=False
        )
    except OSError as error:
        raise MissingComponent(f"git cannot be run ({why(error)}); it applies the patches") from error
    return done.returncode == 0, done.stderr.decode(errors="replace").splitlines()
