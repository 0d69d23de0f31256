"""`weir webrtc check`, on trees made from the context of the patches themselves."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner, Result

from weir.errors import InputError, MissingComponent
from weir.webrtc_patch.check import app
from weir.webrtc_patch.series import apply_patch, copy_files, find_root, read_series, touched_files
from weir.webrtc_patch.syntax_check import check_syntax, find_compiler, include_folders

CONTROLLER = "modules/congestion_controller/receive_side_congestion_controller.cc"
FACTORY = "modules/congestion_controller/include/remote_bitrate_estimator_factory.h"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *(str(argument) for argument in arguments)])


class Hunk(NamedTuple):
    path: str
    old_start: int
    new_start: int
    old: list[str]
    new: list[str]


def hunks(path: str = "") -> list[list[Hunk]]:
    """The hunks of each patch, or those of one file."""
    result = []
    for patch in read_series():
        found: list[Hunk] = []
        current = ""
        for line in patch.file.read_text().splitlines():
            if line.startswith("+++ "):
                current = line.removeprefix("+++ b/")
            elif match := re.match(r"@@ -(\d+)[^+]*\+(\d+)", line):
                found.append(Hunk(current, int(match[1]), int(match[2]), [], []))
            elif found and not line.startswith(("diff ", "--- ", "new file", "index ")):
                if not line.startswith("+"):
                    found[-1].old.append(line[1:])
                if not line.startswith("-"):
                    found[-1].new.append(line[1:])
        result.append([hunk for hunk in found if path in ("", hunk.path)])
    return result


def original(path: str) -> list[str]:
    """A file that all patches of the series fit: their context where they expect it, and filler in between."""
    first, *later = (found for found in hunks(path) if found)
    canvas: dict[int, str] = {}
    for hunk in first:
        canvas.update(enumerate(hunk.new, start=hunk.new_start))
    for hunk in (hunk for found in later for hunk in found):
        canvas.update(enumerate(hunk.old, start=hunk.old_start))
    lines = [canvas.get(number, f"// Line {number}.") for number in range(1, max(canvas) + 10)]
    for hunk in reversed(first):
        lines[hunk.new_start - 1 : hunk.new_start - 1 + len(hunk.new)] = hunk.old
    return lines


def make_tree(folder: Path, line_end: str = "\n") -> Path:
    series = read_series()
    for path in set(touched_files(series)) - {path for patch in series for path in patch.created}:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        text = line_end.join([*original(path), ""])
        (folder / path).write_bytes(text.encode())
    return folder


def contents(tree: Path) -> dict[str, bytes]:
    return {str(path.relative_to(tree)): path.read_bytes() for path in sorted(tree.rglob("*")) if path.is_file()}


def test_series_is_small_and_touches_only_the_receive_side() -> None:
    changed = 0
    for hunk in (hunk for found in hunks() for hunk in found):
        assert "congestion_controller" in hunk.path
        changed += max(len(hunk.new), len(hunk.old)) - sum(line in hunk.old for line in hunk.new)
    assert 50 < changed < 200
    # Class layouts are in headers: none that exists is touched.
    headers = {path for path in touched_files(read_series()) if path.endswith(".h")}
    assert [Path(path).name for path in headers] == [Path(FACTORY).name]


def test_fits_its_own_context(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    before = contents(tree)
    result = run(tree, "--no-compile")
    assert result.exit_code == 0, result.output
    assert "everything fits; nothing was changed" in result.output
    assert "offset" not in result.output
    assert result.output.count(": fits") == len(read_series())
    assert contents(tree) == before


def test_fits_main_of_august_2026_too(tmp_path: Path) -> None:
    """It has one more include than M150, right above those that the patch goes by."""
    tree = make_tree(tmp_path)
    included = '#include "api/units/time_delta.h"'
    text = (tree / CONTROLLER).read_text()
    (tree / CONTROLLER).write_text(text.replace(included, f'#include "api/units/data_size.h"\n{included}'))
    assert run(tree, "--no-compile").exit_code == 0


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_apply_changes_the_tree_once(tmp_path: Path, line_end: str) -> None:
    tree = make_tree(tmp_path, line_end)
    result = run(tree, "--no-compile", "--apply")
    assert result.exit_code == 0, result.output
    after = contents(tree)
    assert b"GetRemoteBitrateEstimatorFactory()" in after[CONTROLLER]
    assert b"WantsTransportSequenceNumbers" in after[FACTORY]
    assert (b"\r\n" in after[CONTROLLER]) == (line_end == "\r\n")
    assert not [path for path in after if path.endswith(".weir-new")]

    again = run(tree, "--no-compile", "--apply")
    assert again.exit_code == 0
    assert "in this tree already" in again.output
    assert contents(tree) == after


def test_finds_libwebrtc_in_a_chromium_checkout(tmp_path: Path) -> None:
    make_tree(tmp_path / "src/third_party/webrtc")
    result = run(tmp_path, "--no-compile")
    assert result.exit_code == 0, result.output
    assert str(tmp_path / "src/third_party/webrtc") in result.output


def test_moved_lines_are_followed(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    file = tree / CONTROLLER
    file.write_text("// One.\n// Two.\n// Three.\n" + file.read_text())
    result = run(tree, "--no-compile")
    assert result.exit_code == 0, result.output
    assert "(offset 3 lines)" in result.output


def test_changed_lines_are_refused(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    file = tree / CONTROLLER
    file.write_text(file.read_text().replace("packets_since_absolute_send_time_(0)", "packets_without_(0)"))
    before = contents(tree)
    result = run(tree, "--no-compile", "--apply")
    assert result.exit_code == 1
    assert f"patch failed: {CONTROLLER}" in result.output
    assert "packets_since_absolute_send_time_(0)" in result.output
    assert contents(tree) == before


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tree / FACTORY).parent.mkdir(parents=True, exist_ok=True)
    (tree / FACTORY).write_text("// Another factory.\n")
    result = run(tree, "--no-compile", "--apply")
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
        apply_patch(tmp_path, read_series()[0])


def test_a_missing_header_is_named(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "webrtc")
    (tmp_path / "abseil-cpp/absl").mkdir(parents=True)
    patched = tmp_path / "patched"
    series = read_series()
    copy_files(tree, touched_files(series), patched)
    assert all(apply_patch(patched, patch)[0] for patch in series)
    includes = include_folders(tree, patched)
    assert includes == [patched, tree, tmp_path / "abseil-cpp"]
    with pytest.raises(MissingComponent, match=r"header \S+\.h is missing; looked for in \S+/webrtc, \S+/abseil-cpp"):
        check_syntax(find_compiler(None), CONTROLLER, patched, includes)


def test_a_compiler_error_is_shown(tmp_path: Path) -> None:
    (tmp_path / "bad.cc").write_text("int f() { return undeclared; }\n")
    (tmp_path / "good.cc").write_text("int f() { return 1; }\n")
    assert check_syntax(find_compiler(None), "good.cc", tmp_path, []).errors == []
    (error,) = check_syntax(find_compiler(None), "bad.cc", tmp_path, []).errors
    assert "undeclared" in error


def test_a_missing_compiler_is_named() -> None:
    with pytest.raises(MissingComponent, match=r"no C\+\+ compiler 'no-such-compiler -O2'"):
        find_compiler("no-such-compiler -O2")


def test_the_source_of_make_webrtc_has_the_patches_and_compiles() -> None:
    source = Path(__file__).parents[2] / "build/libwebrtc/src"
    if not source.is_dir() or shutil.which("c++") is None:
        pytest.skip("needs a compiler and the source that `make webrtc` fetches")
    result = run(source)
    assert result.exit_code == 0, result.output
    assert "in this tree already" in result.output
    assert result.output.count(": compiles") == 2
