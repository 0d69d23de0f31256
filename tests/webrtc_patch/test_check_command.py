"""`weir webrtc check`, on trees made from the context of the patches themselves."""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner, Result

from weir_cli.errors import InputError, MissingComponent
from weir_webrtc.check_command import app, apply_series, changed_files, find_root, read_series

CONTROLLER = "modules/congestion_controller/receive_side_congestion_controller.cc"
DESCRIPTIONS = ("pc/BUILD.gn", "pc/media_session.cc", "pc/webrtc_session_description_factory.cc")
FACTORY = "modules/congestion_controller/include/remote_bitrate_estimator_factory.h"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *(str(argument) for argument in arguments)])


class Hunk(NamedTuple):
    path: str
    old_start: int
    old: list[str]
    new: list[str]


def hunks() -> list[Hunk]:
    found: list[Hunk] = []
    path = ""
    for line in read_series().splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif match := re.match(r"@@ -(\d+)", line):
            found.append(Hunk(path, int(match[1]), [], []))
        elif found and not line.startswith(("diff ", "--- ", "new file", "index ")):
            if not line.startswith("+"):
                found[-1].old.append(line[1:])
            if not line.startswith("-"):
                found[-1].new.append(line[1:])
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files that the series fits: its context where it expects it, and filler in between."""
    for path in changed_files(read_series()):
        lines: list[str] = []
        for hunk in (one for one in hunks() if one.path == path):
            lines += [f"// Line {number}." for number in range(len(lines) + 1, hunk.old_start)] + hunk.old
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("\n".join([*lines, "// The end.", ""]))
    return tmp_path


def contents(tree: Path) -> dict[str, bytes]:
    return {str(path.relative_to(tree)): path.read_bytes() for path in sorted(tree.rglob("*")) if path.is_file()}


def test_series_is_small_and_touches_only_the_receive_side_and_descriptions() -> None:
    changed = 0
    for hunk in hunks():
        assert "congestion_controller" in hunk.path or hunk.path in DESCRIPTIONS
        changed += max(len(hunk.new), len(hunk.old)) - sum(line in hunk.old for line in hunk.new)
    assert 50 < changed < 200
    # Class layouts are in headers: none that exists is touched.
    assert {hunk.path for hunk in hunks() if hunk.path.endswith(".h")} == {FACTORY}


def test_fits_its_own_context(tree: Path) -> None:
    before = contents(tree)
    result = run(tree)
    assert result.exit_code == 0, result.output
    assert "everything fits; nothing was changed" in result.output
    assert "offset" not in result.output
    assert contents(tree) == before


# Lines that main of August 2026 has between two neighbours in M150, and lines that it lacks.
ADDED_AFTER_M150 = (
    (CONTROLLER, "", '#include "api/units/data_size.h"', '#include "api/units/time_delta.h"'),
    (
        "pc/webrtc_session_description_factory.cc",
        '#include "api/sequence_checker.h"',
        '#include "api/task_queue/pending_task_safety_flag.h"',
        '#include "pc/codec_vendor.h"',
    ),
    (
        "pc/BUILD.gn",
        '    "../api/task_queue",',
        '    "../api/task_queue:pending_task_safety_flag",',
        '    "../p2p:transport_description_factory",',
    ),
)
REMOVED_AFTER_M150 = (
    ("pc/BUILD.gn", '    "../media:media_engine",'),
    ("pc/media_session.cc", '#include "media/base/media_engine.h"'),
)


def test_fits_main_of_august_2026_too(tree: Path) -> None:
    for path, above, added, below in ADDED_AFTER_M150:
        text = (tree / path).read_text()
        neighbours = f"{above}\n{below}\n"
        (tree / path).write_text(text.replace(neighbours, f"{above}\n{added}\n{below}\n"))
    for path, line in REMOVED_AFTER_M150:
        (tree / path).write_text((tree / path).read_text().replace(f"{line}\n", ""))
    result = run(tree)
    assert result.exit_code == 0, result.output


def test_apply_changes_the_tree_once(tree: Path) -> None:
    result = run(tree, "--apply")
    assert result.exit_code == 0, result.output
    after = contents(tree)
    assert b"GetRemoteBitrateEstimatorFactory()" in after[CONTROLLER]
    assert b"WantsTransportSequenceNumbers" in after[FACTORY]

    again = run(tree, "--apply")
    assert again.exit_code == 0
    assert "in this tree already" in again.output
    assert contents(tree) == after


@pytest.mark.parametrize("inside", [False, True])
def test_finds_libwebrtc_in_a_chromium_checkout(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, inside: bool
) -> None:
    checkout = tmp_path_factory.mktemp("chromium")
    root = checkout / "src/third_party/webrtc"
    root.parent.mkdir(parents=True)
    tree.rename(root)
    if inside:
        # Another repository around it is none of its business.
        subprocess.run(["git", "init", "--quiet", checkout], check=True)
    result = run(checkout, "--apply")
    assert result.exit_code == 0, result.output
    assert str(root) in result.output
    assert (root / FACTORY).exists()


def test_moved_lines_are_followed(tree: Path) -> None:
    file = tree / CONTROLLER
    file.write_text("// One.\n// Two.\n// Three.\n" + file.read_text())
    result = run(tree)
    assert result.exit_code == 0, result.output
    assert "(offset 3 lines)" in result.output


def test_changed_lines_are_refused(tree: Path) -> None:
    file = tree / CONTROLLER
    file.write_text(file.read_text().replace("packets_since_absolute_send_time_(0)", "packets_without_(0)"))
    before = contents(tree)
    result = run(tree, "--apply")
    assert result.exit_code == 1
    assert f"patch failed: {CONTROLLER}" in result.output
    assert "packets_since_absolute_send_time_(0)" in result.output
    assert contents(tree) == before


def test_a_file_in_the_way_is_refused(tree: Path) -> None:
    (tree / FACTORY).parent.mkdir(parents=True, exist_ok=True)
    (tree / FACTORY).write_text("// Another factory.\n")
    result = run(tree, "--apply")
    assert result.exit_code == 1
    assert f"{FACTORY}: already exists" in result.output
    assert (tree / FACTORY).read_text() == "// Another factory.\n"


def test_what_is_no_tree_is_wrong_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        find_root(tmp_path / "none", read_series())
    with pytest.raises(InputError, match="no source tree of libwebrtc"):
        find_root(tmp_path, read_series())


def test_git_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingComponent, match="git cannot be run"):
        apply_series(tmp_path, read_series())


def test_the_source_of_make_webrtc_has_the_patches() -> None:
    source = Path(__file__).parents[2] / "build/libwebrtc/src"
    if not source.is_dir():
        pytest.skip("needs the source that `make webrtc` fetches")
    result = run(source)
    assert result.exit_code == 0, result.output
    assert "in this tree already" in result.output
