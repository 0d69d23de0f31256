"""Which way C++ includes lead, and how many headers a folder may have."""

from collections import Counter
from pathlib import Path

import cpp_includes
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("estimator", "webrtc_patch", "trainer", "qoe_eval/link")
SIMULATOR = ROOT / "trainer" / "gym" / "sim"
# The lowest first.
SIMULATOR_ORDER = (
    ["core"],
    ["scenario"],
    ["link"],
    ["media"],
    ["repair"],
    ["endpoints"],
    ["flows"],
    ["run"],
    ["serve"],
)
MOST_HEADERS = 18


def listed(lines):
    return "\n".join(map(str, lines))


def test_the_estimator_includes_nothing_but_itself_the_standard_library_and_onnx_runtime():
    # pybind11 is for its Python module alone, and estimator/program is beside the library.
    library = [
        one for one in cpp_includes.read_includes(ROOT / "estimator") if one.file.parts[0] not in ("python", "program")
    ]
    own = [one for one in library if one.header.startswith("weir/")]
    source = ROOT / "estimator" / "src"
    beside = [
        one
        for one in library
        if one.quoted
        and any((folder / one.header).is_file() for folder in (ROOT / "estimator" / one.file.parent, source))
    ]
    standard = [one for one in library if not one.quoted and ("/" not in one.header)]
    others = set(library) - set(own) - set(beside) - set(standard)
    assert len(own) > 50
    assert not others, listed(others)
    named = {one.header for one in standard if one.header.endswith(".h")}
    assert named <= {"stddef.h", "stdint.h", "dlfcn.h", "onnxruntime_c_api.h"}, "of C, and what loads ONNX Runtime"
    exported = ROOT / "estimator" / "include"
    assert [one for one in own if not (exported / one.header).is_file()] == []


def test_what_programs_share_needs_nothing_of_libwebrtc_or_the_simulator():
    others = [ROOT / "webrtc_patch" / "adapter", ROOT / "webrtc_patch" / "peer", SIMULATOR]
    includes = list(cpp_includes.read_includes(ROOT / "estimator" / "program"))
    wrong = [one for one in includes if one.quoted and any((folder / one.header).is_file() for folder in others)]
    assert includes
    assert not wrong, listed(wrong)


def test_the_simulator_does_not_know_the_link_of_calls():
    link = ROOT / "qoe_eval" / "link"
    wrong = [one for one in cpp_includes.read_includes(SIMULATOR) if one.quoted and (link / one.header).is_file()]
    assert list(link.glob("*.h"))
    assert not wrong, listed(wrong)


@pytest.mark.parametrize("folder", ["adapter", "peer"])
def test_what_goes_into_libwebrtc_does_not_know_the_simulator(folder):
    includes = list(cpp_includes.read_includes(ROOT / "webrtc_patch" / folder))
    wrong = [one for one in includes if one.header.startswith("ns3/") or (SIMULATOR / one.header).is_file()]
    assert includes
    assert not wrong, listed(wrong)


def test_the_adapter_does_not_know_the_peer():
    peer = ROOT / "webrtc_patch" / "peer"
    adapter = cpp_includes.read_includes(ROOT / "webrtc_patch" / "adapter")
    wrong = [one for one in adapter if one.quoted and (peer / one.header).is_file()]
    assert not wrong, listed(wrong)


def test_the_simulator_is_built_from_its_core_upwards():
    folders = {path.name for path in SIMULATOR.iterdir() if path.is_dir() and any(path.glob("*.h"))}
    assert folders == {name for names in SIMULATOR_ORDER for name in names}, "every folder has its place in the order"
    wrong = cpp_includes.upward_includes(SIMULATOR, SIMULATOR_ORDER)
    assert not wrong, f"lower folders know nothing of higher ones:\n{listed(wrong)}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_folder_has_too_many_headers(folder):
    counts = Counter(str(path.parent.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.h"))
    crowded = {name: count for name, count in counts.items() if count > MOST_HEADERS}
    assert not crowded, f"more than {MOST_HEADERS} headers in a folder: divide it by subject: {crowded}"


def test_an_include_that_leads_upwards_is_found(tmp_path):
    for folder, text in (("low", '#include "high/a.h"\n'), ("high", '#include "low/b.h"\n#include <high/b.h>\n')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "c.cc").write_text("// One.\n" + text)
    found = cpp_includes.upward_includes(tmp_path, [["low"], ["high"]])
    assert [str(one) for one in found] == ['low/c.cc:2: #include "high/a.h"']
    assert len(cpp_includes.upward_includes(tmp_path, [["low", "high"]])) == 2
