"""A user's checkout of libwebrtc, which is never modified here: where the patched files are, and patched copies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from weir.errors import InputError
from weir.files.input import read_bytes, why
from weir.webrtc_patch.series import HunkResult, Patch, apply, reverse

# From what a user may point at (a Chromium checkout, the folder that `gclient` made, a package's source) to what the
# patches' paths begin at.
_ROOTS = (".", "third_party/webrtc", "src/third_party/webrtc", "src")
_MAX_FILE_SIZE = 16 << 20


@dataclass(frozen=True)
class Text:
    """A text file: its lines without their ends, and the end that it uses."""

    lines: list[str]
    line_end: str = "\n"

    def render(self) -> bytes:
        """As it stands in the file."""
        return "".join(line + self.line_end for line in self.lines).encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class FileResult:
    """The result of one patch for one file."""

    patch: str
    path: str
    # "created", "changed", "present" (it is as the patch wants it already) or "refused".
    outcome: str
    hunks: list[HunkResult]


def find_root(tree: Path, series: list[Patch]) -> Path:
    """The folder in `tree` that the paths of the series are relative to.

    Raises InputError when `tree` is no folder, or has not the files that the series changes.
    """
    if not tree.is_dir():
        raise InputError(f"{tree}: no such folder")
    needed = sorted({file.path for patch in series for file in patch.files} - _created(series))
    for root in (tree / candidate for candidate in _ROOTS):
        if all((root / path).is_file() for path in needed):
            return root.resolve()
    raise InputError(
        f"{tree}: no source tree of libwebrtc: it has no {needed[-1]}, nor is that in {', '.join(_ROOTS[1:])} of it. "
        "Sources of another age may have their files elsewhere; see --series"
    )


def patch_files(root: Path, series: list[Patch]) -> tuple[dict[str, Text], list[FileResult]]:
    """The touched files as the series leaves them, by path, and what happened to each.

    A file that refuses a patch is left as it was, and so is missing from the dictionary if it does not exist.
    Raises InputError for a file that cannot be read.
    """
    texts: dict[str, Text] = {}
    results: list[FileResult] = []
    # Checked from the last patch on, as a later patch may change the lines of an earlier one.
    for patch in series if not _has_all(root, series) else []:
        for diff in patch.files:
            text = texts.get(diff.path) or _read(root / diff.path)
            if diff.is_new and text is not None:
                results.append(FileResult(patch.name, diff.path, "refused", []))
                continue
            lines, hunks = apply(text.lines if text else [], diff)
            outcome = "refused" if lines is None else "created" if diff.is_new else "changed"
            results.append(FileResult(patch.name, diff.path, outcome, hunks))
            if lines is not None:
                texts[diff.path] = Text(lines, text.line_end if text else "\n")
    if not results:
        results = [FileResult(patch.name, diff.path, "present", []) for patch in series for diff in patch.files]
        texts = {path: text for path in _paths(series) if (text := _read(root / path)) is not None}
    return texts, results


def _has_all(root: Path, series: list[Patch]) -> bool:
    """True if the whole series can be reverted, last patch first."""
    texts: dict[str, list[str]] = {}
    for patch in reversed(series):
        for diff in patch.files:
            if diff.path not in texts:
                text = _read(root / diff.path)
                texts[diff.path] = text.lines if text else []
            lines, _ = apply(texts[diff.path], reverse(diff))
            if lines is None:
                return False
            texts[diff.path] = lines
    return True


def _paths(series: Iterable[Patch]) -> list[str]:
    return list(dict.fromkeys(diff.path for patch in series for diff in patch.files))


def _created(series: Iterable[Patch]) -> set[str]:
    return {diff.path for patch in series for diff in patch.files if diff.is_new}


def _read(path: Path) -> Text | None:
    try:
        if not path.exists():
            return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({why(error)})") from None
    content = read_bytes(path, _MAX_FILE_SIZE).decode("utf-8", "surrogateescape")
    line_end = "\r\n" if "\r\n" in content else "\n"
    lines = content.split(line_end)
    return Text(lines[:-1] if lines[-1] == "" else lines, line_end)
