"""Names of controllers, kinds of flows and objective presets stand in their registry, where each is implemented, and
where a few of them are meant: nowhere is a list of them to be kept up to date.
"""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir.registry import CONTROLLERS, PRESETS, WEIGHTS
from weir.traces.schema.flows import FLOW_KINDS

ROOT = Path(__file__).parents[2]
NAMES = {*CONTROLLERS, *FLOW_KINDS, *PRESETS}
REGISTRIES = {
    "estimator/include/weir/registry/controllers.h": {*CONTROLLERS},
    "estimator/include/weir/objective.h": {*PRESETS},
}
# File or folder: the names that may be implemented there. A new one needs no line here.
IMPLEMENTATIONS = {
    "estimator/include/weir/controllers": {*CONTROLLERS},
    "estimator/include/weir/policy/policy_controller.h": {"weir"},
    "estimator/src/controllers": {*CONTROLLERS},
    "trainer/gym/sim/endpoints": {*CONTROLLERS},
    "trainer/gym/sim/scenario": {*FLOW_KINDS},
    "traces/schema/flows.py": {*FLOW_KINDS},
    "webrtc_patch/adapter": {*CONTROLLERS},
}
# File or folder: the names that are meant there, though there are others.
CHOICES = {
    # In shadow, GCC is in charge at both ends, and its estimate is the sender's.
    "estimator/program/sender_gcc.cc": {"gcc"},
    "qoe_eval/call/weir_peer.py": {"gcc", "weir", "shadow"},
    "qoe_eval/call/charts.py": {"gcc", "weir", "shadow"},
    "qoe_eval/serve/page/call_data.js": {"weir"},
    "qoe_eval/serve/page/live.js": {"gcc", "weir", "shadow"},
    "qoe_eval/serve/page/main.js": {"shadow"},
    "qoe_eval/serve/page/calls.js": {"weir"},
    # A model under whatever name; and a policy of seats that is called so.
    "estimator/include/weir/pool/pool_specification.h": {"fixed"},
    "estimator/python/estimator_binding.cc": {"weir"},
    "estimator/python/weir/registry.py": {"weir"},
    "estimator/src/c/c_api.cc": {"weir"},
    "estimator/src/pool/library_members.cc": {"weir"},
    # What is compared with what.
    "qoe_eval/call/call.py": {"weir", "gcc"},
    "qoe_eval/evaluate/suites/policy.py": {"throughput", "latency"},
    "plugins/aiortc": {"balanced", "gcc", "weir"},
    "plugins/browser": {"gcc", "weir"},
    "plugins/gstreamer/examples": {"gcc", "weir"},
    "papers": {"weir", "gcc", "pcc", "nada", "rule", "oracle", "rtp", "tcp", *PRESETS},
    "qoe_eval/evaluate": {
        "weir",
        "weir-send",
        "gcc",
        "gcc-remb",
        "nada",
        "rule",
        "oracle",
        "rtp",
        "tcp",
        "balanced",
    },
    "qoe_eval/measures/families.py": {"gcc", "gcc-remb", "rule"},
    "qoe_eval/measures/steering.py": {"throughput", "balanced", "latency"},
    "qoe_eval/measures/summary.py": {"weir"},
    "qoe_eval/report/page/replay.html": {"balanced"},
    "qoe_eval/report/replay_page.py": {"weir", "gcc", "rule"},
    "qoe_eval/report/page/report.js": {"weir", "oracle", "rtp", "throughput"},
    "qoe_eval/report/training_curves.py": {"rule", "weir"},
    "qoe_eval/runs/objectives.py": {"gcc", "rule", "balanced"},
    "qoe_eval/bench": {"weir", "rule", "rtp"},
    # Measures that are of one kind of flow.
    "qoe_eval/measures/fairness.py": {"rtp", "tcp"},
    "qoe_eval/measures/metrics.py": {"rtp"},
    "qoe_eval/runs/jobs.py": {"rtp"},
    # Scenarios.
    "traces/catalogue.py": {"rtp", "tcp"},
    "traces/formats/plain_trace.py": {"rtp"},
    "traces/generate": {"rtp", "tcp", "cbr"},
    "trainer/gym/opennetlab.py": {"rtp"},
    # What there is where nothing is asked for.
    "trainer/gym/environment.py": {"balanced"},
    "trainer/gym/episode.py": {"balanced"},
    "trainer/gym/vector.py": {"balanced"},
    "trainer/gym/sim/flows/flow_set.cc": {"rule"},
    "trainer/gym/sim/run/job_options.cc": {"rule", "weir"},
    "trainer/gym/sim/flows/simulation_job.h": {"rule"},
    "trainer/learning/evaluation.py": {"balanced"},
    "trainer/configuration/algorithms.py": {"oracle"},
    "trainer/learning/teachers.py": {"oracle"},
    "webrtc_patch/peer/session.cc": {"rule", "weir"},
    "webrtc_patch/peer/main.cc": {"weir"},
    "webrtc_patch/peer/command.cc": {"weir"},
    "examples": {"latency"},
    # Other things of the same name: the program, a protocol, a part of a page.
    "estimator/src/policy/onnx_session.cc": {"weir"},
    "qoe_eval/link/session.py": {"tcp"},
    "qoe_eval/call/media/source_video.py": {"weir"},
    "plugins/gstreamer/src": {"weir"},
    "qoe_eval/doctor.py": {"weir"},
    "cli/app.py": {"weir"},
    "cli/main.py": {"weir"},
    "qoe_eval/records.py": {"weir"},
    "qoe_eval/serve/page/objective.js": {"rule"},
    "trainer/train.py": {"weir"},
    "trainer/model": {"weir"},
    "trainer/gym/sim/run/versions.cc": {"weir"},
    "trainer/configuration/training.py": {"weir"},
    "webrtc_patch/peer/peer_media.cc": {"weir"},
}
# The names of two presets are those of the weight that they favour; these files mean the weight.
WEIGHTS_BY_NAME = (
    "estimator/python/weir/registry.py", "qoe_eval/report/training_curves.py",
    "qoe_eval/serve/page/guard.js", "qoe_eval/serve/page/objective.js", "qoe_eval/report/page/report.js",
    "estimator/program/program_decision_maker.cc", "webrtc_patch/peer/command.cc", "webrtc_patch/peer/record_lines.cc",
)  # fmt: skip
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LITERAL = re.compile(r"""(["'`])([a-z-]+)\1|--c-([a-z-]+)""")


def names_in(path: Path) -> set[str]:
    """The registered names that are string literals, or colours, of a source file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        literals: Iterator[str] = (
            node.value
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Constant) and type(node.value) is str
        )
        found = set(literals)
    else:
        found = {plain or colour for _, plain, colour in LITERAL.findall(COMMENT.sub("", text))}
    return {name.removeprefix("--c-") for name in found} & NAMES


def covers(place: str, path: str) -> bool:
    """Whether a path is the place, or in it."""
    return path == place or path.startswith(f"{place}/")


@pytest.fixture(scope="module")
def found() -> dict[str, set[str]]:
    """The names by the path of every source file that is no test."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("no clone")
    paths = (path for path in listed.stdout.split("\0") if re.search(r"\.(py|js|css|html|cc|h|c|j2)$", path))
    return {
        path: names
        for path in paths
        if not re.match(r"tests/|plugins/.*/tests/", path)
        and (ROOT / path).is_file()
        and (names := names_in(ROOT / path))
    }


def test_a_name_stands_in_its_registry_its_implementation_and_where_it_is_meant(found: dict[str, set[str]]) -> None:
    strays = {}
    for path, names in found.items():
        allowed = set(WEIGHTS) if path in WEIGHTS_BY_NAME else set()
        for places in (REGISTRIES, IMPLEMENTATIONS, CHOICES):
            allowed |= {name for place, some in places.items() if covers(place, path) for name in some}
        if names - allowed:
            strays[path] = sorted(names - allowed)
    assert not strays, f"read them from the registry (weir.registry, weir/registry/*.h): {strays}"


def test_every_place_that_may_have_names_has_them(found: dict[str, set[str]]) -> None:
    for places in (REGISTRIES, CHOICES):
        for place, names in places.items():
            there = {name for path, some in found.items() if covers(place, path) for name in some}
            assert names <= there, f"{place} no longer has {names - there}: take it off the list"
    assert set(WEIGHTS_BY_NAME) <= found.keys()


def test_a_stray_name_is_found(tmp_path: Path) -> None:
    for name, text in {
        "a.py": 'ORDER = ("weir", "gcc-remb")  # pcc',
        "a.js": 'const order = ["weir", `gcc-remb`]; // "pcc"',
        "a.cc": 'const char* a = "gcc-remb", b = "weir";  // "pcc"',
        "a.css": ":root { --c-weir: red; --c-gcc-remb: blue }",
    }.items():
        (tmp_path / name).write_text(text)
        assert names_in(tmp_path / name) == {"weir", "gcc-remb"}, name
