"""Which way C++ includes lead."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SIMULATOR = ROOT / "simulator"
# With C++ beside the library; of tests, those that are not the library's own.
HOSTS = (
    "simulator", "webrtc_patch", "programs", "plugins", "examples", "papers",
    "calls", "logs",
    "tests/simulator", "tests/webrtc_patch", "tests/programs", "tests/plugins", "tests/install", "tests/calls",
)  # fmt: skip
# The lowest first.
SIMULATOR_ORDER = (
    "core", "scenario", "link", "media", "repair", "endpoints", "flows", "run", "serve", "open_loop", "command",
)  # fmt: skip
# Beside the simulator: the path in real time.
OTHERS = {"real_time"}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


@dataclass(frozen=True)
class Include:
    """A line `#include`; `quoted`: with quotation marks, as Weir's own headers are."""

    file: Path
    line: int
    header: str
    quoted: bool

    def __str__(self) -> str:
        mark = ("<", ">") if not self.quoted else ('"', '"')
        return f"{self.file}:{self.line}: #include {mark[0]}{self.header}{mark[1]}"


def read_includes(folder):
    """Every include of the C and C++ files below a folder; `file` is relative to it."""
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cc", ".c")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if found:
                yield Include(path.relative_to(folder), number, found[2], found[1] == '"')


def upward_includes(folder, order):
    """The includes, below `folder`, of one of its folders from one above it, as "FOLDER/NAME.h"; `order`: the lowest
    first.
    """
    rank = {name: number for number, name in enumerate(order)}
    return [
        one
        for one in read_includes(folder)
        if (includer := one.file.parts[0]) in rank
        and (included := one.header.partition("/")[0]) in rank
        and one.quoted
        and rank[included] > rank[includer]
    ]


def of_the_simulator(include):
    """libwebrtc has folders of the same names, such as media/."""
    return include.header.partition("/")[0] in SIMULATOR_ORDER and (SIMULATOR / include.header).is_file()


def listed(lines):
    return "\n".join(map(str, lines))


def test_the_estimator_includes_nothing_but_itself_the_standard_library_and_onnx_runtime():
    # pybind11 is for its Python module alone.
    library = [one for one in read_includes(ROOT / "estimator") if one.file.parts[0] != "python"]
    own = [one for one in library if one.header.startswith("weir/")]
    source, c = ROOT / "estimator" / "src", ROOT / "estimator" / "c"
    beside = [
        one
        for one in library
        if one.quoted
        and any((folder / one.header).is_file() for folder in (ROOT / "estimator" / one.file.parent, source, c))
    ]
    standard = [one for one in library if not one.quoted and ("/" not in one.header)]
    written = {one for one in library if one.header == "weir_model.h"}  # by the build
    others = set(library) - set(own) - set(beside) - set(standard) - written
    assert len(own) > 50
    assert not others, listed(others)
    named = {one.header for one in standard if one.header.endswith(".h")}
    known = {"stddef.h", "stdint.h", "dlfcn.h", "onnxruntime_c_api.h", "unistd.h"}
    assert named <= known, "of C, what loads ONNX Runtime, and what tells a child process from its parent"
    exported = ROOT / "estimator" / "include"
    assert [one for one in own if not (exported / one.header).is_file()] == []


def private_includes(folder, library):
    """The includes, below `folder`, of private headers of the library in the folder `library`."""
    source = library / "src"
    return [
        one for one in read_includes(folder) if (source / one.header).is_file() or f"{library.name}/src/" in one.header
    ]


@pytest.mark.parametrize("folder", HOSTS)
def test_hosts_include_only_public_headers_of_the_estimator(folder):
    wrong = private_includes(ROOT / folder, ROOT / "estimator")
    assert not wrong, listed(wrong)


def test_only_the_library_and_its_own_tests_link_its_private_headers():
    folders = [top for top in ROOT.iterdir() if top.name != "build" and not top.name.startswith(".")]
    files = [ROOT / "CMakeLists.txt", *(path for top in folders for path in top.rglob("CMakeLists.txt"))]
    users = {path.parent.relative_to(ROOT).as_posix() for path in files if "weir_private" in path.read_text()}
    assert users == {
        "estimator", "estimator/python", "tests/bench", "tests/estimator", "tests/fuzz", "tests/soak",
    }  # fmt: skip


def test_an_include_of_a_private_header_is_found(tmp_path):
    library, host = tmp_path / "estimator", tmp_path / "host"
    for path, text in ((library / "src/guard/guard.h", ""), (library / "include/weir/guard.h", "")):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    host.mkdir()
    (host / "a.cc").write_text('#include "weir/guard.h"\n#include "guard/guard.h"\n#include "../estimator/src/b.h"\n')
    assert [one.line for one in private_includes(host, library)] == [2, 3]


def test_only_the_worker_of_the_estimator_has_threads():
    threads = {"atomic", "condition_variable", "future", "mutex", "semaphore", "shared_mutex", "stop_token", "thread"}
    includes = list(read_includes(ROOT / "estimator" / "src"))
    having = {one.file.parts[0] for one in includes if one.header in threads}
    users = {one.file.parts[0] for one in includes if one.quoted and one.header.startswith("worker/")}
    assert having == {"worker"}
    assert users == {"worker"}, "hosts reach it by ProcessWorker"


def test_what_programs_share_needs_nothing_of_libwebrtc_or_the_simulator():
    others = [ROOT / "webrtc_patch" / "adapter", ROOT / "calls" / "peer"]
    includes = list(read_includes(ROOT / "programs"))
    wrong = [
        one
        for one in includes
        if one.quoted and (of_the_simulator(one) or any((folder / one.header).is_file() for folder in others))
    ]
    assert includes
    assert not wrong, listed(wrong)


def test_the_simulator_does_not_know_the_link_of_calls():
    link = ROOT / "simulator" / "real_time"
    simulator = [one for one in read_includes(SIMULATOR) if one.file.parts[0] in SIMULATOR_ORDER]
    wrong = [one for one in simulator if one.quoted and (link / one.header).is_file()]
    assert list(link.glob("*.h"))
    assert not wrong, listed(wrong)


@pytest.mark.parametrize("folder", ["webrtc_patch/adapter", "calls/peer"])
def test_what_goes_into_libwebrtc_does_not_know_the_simulator(folder):
    includes = list(read_includes(ROOT / folder))
    wrong = [one for one in includes if one.header.startswith("ns3/") or of_the_simulator(one)]
    assert includes
    assert not wrong, listed(wrong)


def test_the_adapter_does_not_know_the_peer():
    peer = ROOT / "calls" / "peer"
    adapter = read_includes(ROOT / "webrtc_patch" / "adapter")
    wrong = [one for one in adapter if one.quoted and (peer / one.header).is_file()]
    assert not wrong, listed(wrong)


def test_the_simulator_is_built_from_its_core_upwards():
    folders = {path.name for path in SIMULATOR.iterdir() if path.is_dir() and any(path.glob("*.h"))}
    assert folders == set(SIMULATOR_ORDER) | OTHERS, "every folder has its place in the order"
    wrong = upward_includes(SIMULATOR, SIMULATOR_ORDER)
    assert not wrong, f"lower folders know nothing of higher ones:\n{listed(wrong)}"


def test_an_include_that_leads_upwards_is_found(tmp_path):
    for folder, text in (("low", '#include "high/a.h"\n'), ("high", '#include "low/b.h"\n#include <high/b.h>\n')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "c.cc").write_text("// One.\n" + text)
    found = upward_includes(tmp_path, ["low", "high"])
    assert [str(one) for one in found] == ['low/c.cc:2: #include "high/a.h"']
