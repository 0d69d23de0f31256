"""Documents and comments: links and paths lead somewhere, READMEs name their folders."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = r"(?:py|h|cc|c|go|rs|js|css|html|sh|cmake|toml|patch|md|txt|svg|png)"
# Files that commands write and files of others: documents name them, and they are not in the repository.
WRITTEN = (
    "build/", "calls/", "results/", "runs/mine", "runs/weir", "series/", "tensorboard/",
    "evaluation.html", "report.html", "best.toml", "mine.py", "docs/results/papers.json",
)  # fmt: skip
FOREIGN = {
    "include/", "lib/weir/",  # of an installation
    "opennetlab/", "mahimahi/",  # of the traces that WEIR_SHARED names
    "api/transport/network_types.h",  # of libwebrtc
    "pkg/rtc/transport.go", "pkg/rtc/config.go",  # of LiveKit
    "weir.cc", "weir_model.h", "weir_python.cc", "program.c",  # of `make amalgamation`, and of its users
    "../cpp/index.html",  # of the site that `make docs` builds
}  # fmt: skip


def tracked(*patterns: str) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


FILES = set(tracked())
FOLDERS = {str(folder) for name in FILES for folder in Path(name).parents}
TOP = {name.partition("/")[0] for name in FILES if "/" in name}
DOCUMENTS = tracked("*.md")
HEADERS = tracked("*.h")


def is_there(path: str, document: str) -> bool:
    """Returns True if a path that a document names is in the repository: from its root, from the document's folder, or
    as the end of a path below the document's folder at the top."""
    folder = Path(document).parent
    path = path.removeprefix("./").rstrip("/")
    # The papers are a distribution of its own, and may be absent.
    if path.startswith("papers/") and not (ROOT / "papers").exists():
        return True
    below = f"{folder.parts[0]}/" if folder.parts and folder.parts[0] != "docs" else ""
    return (
        (ROOT / path).exists()
        or (ROOT / folder / path).exists()
        or any(known.startswith(below) and known.endswith(f"/{path}") for known in FILES | FOLDERS)
    )


def spelled_out(word: str) -> list[str]:
    """`a.{h,cc}` as `a.h` and `a.cc`."""
    if braces := re.fullmatch(r"(.*)\{(.*)\}(.*)", word):
        before, middle, after = braces.groups()
        return [before + part + after for part in middle.split(",")]
    return [word]


def named_paths(text: str) -> list[str]:
    """The files and folders of the repository that a document names: in its code spans and its blocks of code."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = [path for span in re.findall(r"`([^`\n]+)`", prose) for path in spelled_out(span)]
    named = [span for span in spans if re.fullmatch(rf"[\w./-]+(?:/|\.{SOURCE})", span)]
    anywhere = re.findall(rf"(?<![\w./~-])((?:{'|'.join(map(re.escape, sorted(TOP)))})/[\w./-]*\w)", text)
    paths = [path for path in [*named, *anywhere] if not path.startswith("/")]
    # NAME stands for the name of what a guide adds.
    return [path for path in paths if not path.startswith(WRITTEN) and path not in FOREIGN and "NAME" not in path]


def anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", document.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_of_a_document_leads_somewhere(document):
    text = (ROOT / document).read_text()
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", text)
    for target in targets:
        if re.match(r"https?:|mailto:", target) or target in FOREIGN:
            continue
        path, _, anchor = target.partition("#")
        found = (ROOT / document).parent / path if path else ROOT / document
        assert found.exists(), f"{document}: {target}"
        if anchor:
            assert anchor in anchors(found / "README.md" if found.is_dir() else found), f"{document}: {target}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_that_a_document_names_is_there(document):
    missing = [path for path in named_paths((ROOT / document).read_text()) if not is_there(path, document)]
    assert missing == []


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name.endswith("README.md")])
def test_a_readme_names_every_folder_in_its_own(document):
    text = (ROOT / document).read_text()
    here = Path(document).parent
    below = sorted(folder.name for name in FOLDERS if (folder := Path(name)).parent == here and folder != here)
    missing = [name for name in below if not name.startswith(".") and not re.search(rf"(?<![\w/]){name}/", text)]
    assert missing == []


@pytest.mark.parametrize("folder", sorted(TOP - {".ci", ".github"}))
def test_every_folder_at_the_top_has_a_readme(folder):
    assert f"{folder}/README.md" in FILES


def test_badges_are_true():
    badges = (ROOT / "docs/badges.svg").read_text()
    (cpp,) = re.findall(r"CMAKE_CXX_STANDARD (\d+)\)", (ROOT / "estimator/cmake/build_settings.cmake").read_text())
    (python,) = re.findall(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause")
    assert {"BSD-3-Clause", "12 | 13", cpp, f"\u2265 {python}"} <= set(re.findall(r"<text[^>]*>([^<]+)</text>", badges))


def test_every_header_begins_by_saying_what_it_is():
    silent = [name for name in HEADERS if not re.match(r"//|/\*", (ROOT / name).read_text())]
    assert silent == []


def test_comments_name_files_that_are_there():
    folders = [path.parent.name for path in ROOT.glob("*/pyproject.toml")]
    missing = []
    for name in tracked(*(f"{folder}/*.{ending}" for folder in folders for ending in ("py", "h", "cc", "js"))):
        lines = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#include")]
        for path in re.findall(r"(?<![\w./*\"'-])((?:\w+/)*[a-z][a-z_0-9]*\.(?:py|h|cc))\b", "\n".join(lines)):
            if path not in FILES | FOREIGN and not any(known.endswith(f"/{path}") for known in FILES):
                missing.append(f"{name}: {path}")
    assert missing == []


def test_the_readme_has_what_each_installation_takes():
    text = (ROOT / "README.md").read_text()
    for target in ("report", "webrtc", "train"):
        (comment,) = re.findall(rf"^make {target} +# (.*)$", text, flags=re.MULTILINE)
        assert re.search(r"minutes?\b|hour", comment), target
        assert re.search(r"\d+ [MG]B", comment), target


def test_the_commands_of_the_readme_are_targets():
    """A folder of the same name would be up to date, and make silent."""
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^make ([a-z-]+)", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, flags=re.MULTILINE)] == []
