"""Compiles the syntax of patched files against the headers of the tree they are from."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from weir.errors import MissingComponent

_STANDARD = "-std=c++20"
# Macros of libwebrtc's build files on Linux; the patched files depend on no others.
_DEFINITIONS = ("-DWEBRTC_POSIX", "-DWEBRTC_LINUX")
_TIMEOUT_S = 300
_ERRORS_SHOWN = 5
_MISSING_HEADER = re.compile(r"fatal error: '?([^\s':]+)'?(?::| file not found)")


@dataclass(frozen=True)
class SyntaxResult:
    """The compiler's errors for one file; none if it compiles."""

    path: str
    errors: list[str]


def find_compiler(wanted: str | None) -> list[str]:
    """The C++ compiler's command: `wanted`, else $CXX, else c++.

    Raises MissingComponent when it is not there.
    """
    command = shlex.split(wanted or os.environ.get("CXX") or "c++")
    if not command or shutil.which(command[0]) is None:
        raise MissingComponent(
            f"no C++ compiler '{' '.join(command)}'; name one with --compiler, or leave the check out with --no-compile"
        )
    return command


def include_folders(root: Path, patched: Path) -> list[Path]:
    """Where headers are looked for: the patched copies, the tree, its abseil.

    Raises MissingComponent when abseil is neither in the tree nor installed.
    """
    places = [root / "third_party/abseil-cpp", root.parent / "abseil-cpp"]
    abseil = next((place for place in places if (place / "absl").is_dir()), None)
    if abseil is None and not Path("/usr/include/absl").is_dir():
        raise MissingComponent(
            f"abseil's headers are missing: looked for absl/ in {', '.join(str(place) for place in places)} and in "
            "/usr/include. In a checkout `gclient sync` fetches them; on Debian the package is libabsl-dev"
        )
    browser = [root.parents[1]] if root.parts[-2:] == ("third_party", "webrtc") else []
    return [patched, root, *([abseil] if abseil else []), *browser]


def check_syntax(compiler: list[str], path: str, patched: Path, includes: list[Path]) -> SyntaxResult:
    """Compiles `path`, relative to the folder of patched copies, without making an object.

    Raises MissingComponent when a header is missing, or the compiler cannot be run.
    """
    command = [*compiler, _STANDARD, "-fsyntax-only", "-w", *_DEFINITIONS]
    command += [f"-I{folder}" for folder in includes]
    try:
        done = subprocess.run(
            [*command, str(patched / path)], capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingComponent(f"{compiler[0]} cannot compile {path}: {error}") from error
    if match := _MISSING_HEADER.search(done.stderr):
        searched = ", ".join(str(folder) for folder in includes if not folder.is_relative_to(patched))
        raise MissingComponent(
            f"{path}: the header {match[1]} is missing; looked for in {searched}. "
            "The tree may be incomplete (in a checkout: `gclient sync`)"
        )
    if done.returncode == 0:
        return SyntaxResult(path, [])
    output = done.stderr.splitlines()
    errors = [line for line in output if re.search(r": (fatal )?error: ", line)] or output
    return SyntaxResult(path, errors[:_ERRORS_SHOWN] or [f"{compiler[0]} failed with status {done.returncode}"])
