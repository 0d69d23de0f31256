"""A new key of a scenario, or a new kind of flow, touches at most four files: those that the guide names."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_FILES = 4
SPECS = "simulator/scenario"
# Files that use a key or kind for a purpose of their own, which a new one does not have by being there.
USES = re.compile(r"traces/(generate|catalogue|formats)|qoe_eval/|trainer/|papers/|plugins/|cli/")


def sources() -> dict[str, str]:
    """The text of every source file, tests and users of single keys apart, by its path."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("no clone")
    paths = (path for path in listed.stdout.split("\0") if re.search(r"\.(py|cc|h|txt|cmake|toml)$", path))
    return {
        path: (ROOT / path).read_text(encoding="utf-8")
        for path in paths
        if not path.startswith("tests/") and not USES.match(path) and (ROOT / path).is_file()
    }


# Each key with the member that it is read into, where that has a name of its own.
KEYS = {
    "stall_probability": "stall_probability",
    "minimum_output_share": "minimum_output_share",
    "rise_time_constant_s": "rise_time_constant_s",
    "key_frame_interval_s": "key_frame_interval_ns",
    "initial_rate_bps": "initial_rate",
    "idle_mean_s": "idle_mean_s",
    "start_on": "start_on",
    "packet_bytes": "packet_bytes",
    "gap_mean_s": "gap_mean_s",
    "good_to_bad": "good_to_bad",
    "queue_discipline": "queue_discipline",
}


@pytest.mark.parametrize(("key", "member"), KEYS.items())
def test_a_key_is_in_at_most_four_files(key: str, member: str) -> None:
    touched = {path for path, text in sources().items() if re.search(rf"\b({key}|{member})\b", text)}
    assert any(path.startswith("traces/schema/") for path in touched)
    assert any(path.startswith(SPECS) for path in touched)
    assert len(touched) <= MOST_FILES, sorted(touched)


def test_a_kind_of_flow_is_in_at_most_four_files() -> None:
    naming = {path for path, text in sources().items() if re.search(r"\bCbr(Spec|Flow)\b|\"cbr\"", text)}
    scenario = f"{SPECS}/scenario.h"
    assert naming - {"traces/schema/scenario.py"} == {  # which exports the class for type hints
        "traces/schema/flows.py", scenario, f"{SPECS}/cbr_spec.h", "simulator/flows/cbr_flow.cc",
    }  # fmt: skip
