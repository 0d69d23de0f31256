"""The patch series (quilt style), and git's application of it to copies of a user's files."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from weir.errors import InputError, MissingComponent
from weir.files.input import read_bytes, why
from weir.files.output import make_folder, write_bytes

_FOLDER = Path(__file__).parent / "patches"
# The milestones of libwebrtc that the series was tried on.
MILESTONES = "M150 to main of August 2026"
_FILES = re.compile(r"^--- (?:a/.*|(?P<none>/dev/null))\n\+\+\+ b/(?P<path>.*)$", re.MULTILINE)
# From the folders that a user may name (a Chromium checkout, the folder of `gclient`, a package's source) to the folder
# of the patches' paths.
_ROOTS = (".", "third_party/webrtc", "src/third_party/webrtc", "src")
_MAX_FILE_SIZE = 16 << 20
# Settings of the user's git that would change the result.
_GIT = ("git", "-c", "apply.whitespace=nowarn", "-c", "apply.ignoreWhitespace=no", "-c", "core.autocrlf=false")


@dataclass(frozen=True)
class Patch:
    """One patch, and the files that it changes or creates, relative to the source tree."""

    name: str
    file: Path
    changed: list[str]
    created: list[str]


def read_series() -> list[Patch]:
    """The patches, in the order in which they apply."""
    return [_read_patch(_FOLDER / patch) for patch in (_FOLDER / "series").read_text().split()]


def touched_files(series: Iterable[Patch]) -> list[str]:
    """The paths of the files that the series changes or creates, without repetition."""
    return list(dict.fromkeys(path for patch in series for path in (*patch.changed, *patch.created)))


def find_root(tree: Path, series: list[Patch]) -> Path:
    """The folder in `tree` that the paths of the series are relative to.

    Raises InputError when `tree` is no folder, or does not have the files that the series changes.
    """
    if not tree.is_dir():
        raise InputError(f"{tree}: no such folder")
    needed = sorted(set(touched_files(series)) - {path for patch in series for path in patch.created})
    for root in (tree / candidate for candidate in _ROOTS):
        if all((root / path).is_file() for path in needed):
            return root.resolve()
    raise InputError(
        f"{tree}: no source tree of libwebrtc: it has no {needed[-1]}, nor is that in {', '.join(_ROOTS[1:])} of it. "
        f"The patches are for {MILESTONES}"
    )


def copy_files(root: Path, paths: list[str], copy: Path) -> None:
    """Copies the files that exist, with "\\n" as the end of each line, as in the patches.

    Raises InputError for a file that cannot be read.
    """
    for path in paths:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        try:
            exists = (root / path).exists()
        except OSError as error:
            raise InputError(f"{root / path}: cannot be read ({why(error)})") from None
        if exists:
            (copy / path).write_bytes(read_bytes(root / path, _MAX_FILE_SIZE).replace(b"\r\n", b"\n"))


def write_files(copy: Path, paths: list[str], root: Path) -> None:
    """Replaces each file of the tree in one step, with its mode and its ends of lines."""
    for path in paths:
        target, content = root / path, (copy / path).read_bytes()
        mode = None
        if target.exists():
            mode = target.stat().st_mode
            if b"\r\n" in read_bytes(target, _MAX_FILE_SIZE):
                content = content.replace(b"\n", b"\r\n")
        make_folder(target.parent, "--apply")
        write_bytes(target, content)
        if mode is not None:
            target.chmod(mode)


def apply_patch(copy: Path, patch: Patch, *, reverse: bool = False) -> tuple[bool, list[str]]:
    """Applies a patch to the files of the folder `copy`, all of it or nothing: success, and git's messages.

    A hunk whose lines are elsewhere moves there; it is never applied to different lines.
    Raises MissingComponent when git cannot be run.
    """
    # The folder is no repository, and a hook may have set the variables of one.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"LC_ALL": "C", "GIT_CEILING_DIRECTORIES": str(copy.resolve().parent)}
    command = [*_GIT, "apply", "--verbose", *(["--reverse"] if reverse else []), str(patch.file)]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise MissingComponent(f"git cannot be run ({why(error)}); it applies the patches") from error
    return done.returncode == 0, done.stderr.splitlines()


def _read_patch(file: Path) -> Patch:
    files = list(_FILES.finditer(file.read_text(encoding="utf-8")))
    return Patch(
        file.name,
        file,
        changed=[found["path"] for found in files if not found["none"]],
        created=[found["path"] for found in files if found["none"]],
    )
