"""`make report` replays the controllers of the table in the root README."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def controllers_of_the_table():
    block = re.search(r"compare\(\"opponents\", \{(.*?)\}", (ROOT / "docs/src/README.md.in").read_text(), re.DOTALL)
    return re.findall(r'": "([\w-]+)"', block[1])


@pytest.mark.parametrize("has_libwebrtc", [False, True])
def test_make_report_replays_the_columns_of_the_table(tmp_path, has_libwebrtc):
    library = tmp_path / "version"
    if has_libwebrtc:
        library.touch()
    command = ["make", "--dry-run", "--always-make", f"LIBWEBRTC={library}", "report"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (line,) = [line for line in done.stdout.splitlines() if "weir replay catalogue" in line]
    expected = controllers_of_the_table()
    if not has_libwebrtc:
        expected.remove("scream")
    assert sorted(re.findall(r"--controller ([\w-]+)", line)) == sorted(expected)
