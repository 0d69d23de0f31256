#!/usr/bin/env python3
"""Writes the library as one C++ file, with nothing else to build, link or configure.

    estimator/amalgamate.py FOLDER...

Each FOLDER takes `weir.cc`, the C interface's headers `weir.h` and `weir_mocc.h`, and `weir_model.h`, the bytes of the
shipped model, which `weir.cc` includes. Compile with C++20 (GCC 12, Clang 14 or later); exceptions and RTTI may be off.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ESTIMATOR = Path(__file__).resolve().parent
ROOT = ESTIMATOR.parent
SOURCE = ESTIMATOR / "src"
MODEL = ESTIMATOR / "models/weir.onnx"
# ONNX Runtime is for models other than the dense networks of `weir export`; here they are refused.
EXCLUDED = {"src/onnx/onnx_session.cc", "src/onnx/onnxruntime_loader.cc"}
# The files of which one or the other is compiled.
CONDITIONS = {"policy_worker.cc": "!defined(__wasm__)", "policy_worker_absent.cc": "defined(__wasm__)"}
C_HEADERS = {"weir.h", "weir_controller.h"}
MOCC_HEADER = "weir_mocc.h"
MODEL_HEADER = "weir_model.h"
# Files that stand beside the one that includes them; the packages of Python write the latter.
GENERATED = (MODEL_HEADER, "documentation.inc")

INCLUDE = re.compile(r'^#include (?:<(?P<system>[^>]+)>|"(?P<own>[^"]+)")[^\n]*\n', re.MULTILINE)
ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
# Declarations at the begin of a line of an anonymous namespace: constants, types and functions.
DECLARATIONS = (
    re.compile(r"^(?:constexpr|const)\b[^(){;]*?\b(k\w+)(?= =|\[|\{)", re.MULTILINE),
    re.compile(r"^(?:class|struct|enum class|using(?! namespace)|thread_local [^;]*) (\w+)(?= =|[ :{;])", re.MULTILINE),
    re.compile(r"^[A-Za-z][^()=;{}]*?[ *&>](\w+)\(", re.MULTILINE),
)
# Names within text and comments stay.
LITERAL = r'"(?:\\.|[^"\\\n])*"|//[^\n]*'

PROLOGUE = """\
// Weir {version} as one file; estimator/amalgamate.py wrote it. weir.h has the interface.
//
//     c++ -std=c++20 -O2 -c weir.cc
//
{license}
// Products and sums stay apart, so that a network computes the same bits on every processor.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#include "weir.h"

{system}
#define WEIR_VERSION "{version}"
"""


def anonymous_names(text: str) -> set[str]:
    """The names that the anonymous namespaces of a file declare."""
    bodies = ANONYMOUS.findall(text)
    return {name for body in bodies for pattern in DECLARATIONS for name in pattern.findall(body)}


def renamed(text: str, names: set[str], suffix: str) -> str:
    """`text` with `suffix` behind each of the names, unless it is another scope's."""
    if not names:
        return text
    words = re.compile(rf"{LITERAL}|(?<![\w.:])(?<!->)(?:{'|'.join(sorted(names))})\b")
    return words.sub(lambda found: found[0] + ("" if found[0][0] in '"/' else suffix), text)


class Amalgamation:
    """The text of files, each header once before what includes it, and the headers of the system."""

    def __init__(self) -> None:
        self.system: set[str] = set()
        self.text = ""
        self._seen: set[Path] = set()

    def add(self, path: Path, text: str | None = None) -> None:
        """Appends a file with the headers that it includes, unless it is there already."""
        if path in self._seen:
            return
        self._seen.add(path)
        own = INCLUDE.sub(lambda found: self._include(path, found), path.read_text() if text is None else text)
        if condition := CONDITIONS.get(path.name):
            own = f"#if {condition}\n{own}#endif\n"
        self.text += f"\n// ---- {path.relative_to(ESTIMATOR)}\n{own}"

    def _include(self, path: Path, found: re.Match[str]) -> str:
        if found["system"]:
            self.system.add(found["system"])
        elif found["own"] in GENERATED:
            return found[0]
        elif Path(found["own"]).name not in C_HEADERS:
            folders = (path.parent, SOURCE, ESTIMATOR / "include")
            self.add(next(file.resolve() for folder in folders if (file := folder / found["own"]).is_file()))
        return ""


def system_order(header: str) -> tuple[bool, str]:
    """Those of pybind11 come first, as Python's own header asks."""
    return not header.startswith("pybind11/"), header


def amalgamated(*folders: Path) -> str:
    """The text of weir.cc, or of another file with the sources of `folders`, below estimator/."""
    paths = [path.relative_to(ESTIMATOR) for folder in folders for path in sorted(folder.rglob("*.cc"))]
    files = {path: (ESTIMATOR / path).read_text() for path in paths if path.as_posix() not in EXCLUDED}
    declared = defaultdict(set)
    for path, text in files.items():
        for name in anonymous_names(text):
            declared[name].add(path)
    amalgamation = Amalgamation()
    # Those of the C interface have names in the global namespace.
    for path in sorted(files, key=lambda path: (path.parts[:2] == ("src", "c"), path)):
        clashing = {name for name, users in declared.items() if path in users and len(users) > 1}
        amalgamation.add(ESTIMATOR / path, renamed(files[path], clashing, f"_{path.stem}"))
    system = "".join(f"#include <{name}>\n" for name in sorted(amalgamation.system, key=system_order))
    license = "".join(f"// {line}".rstrip() + "\n" for line in (ROOT / "LICENSE").read_text().splitlines())
    return PROLOGUE.format(version=project_version(), license=license, system=system) + amalgamation.text


def project_version() -> str:
    """The version of everything."""
    (version,) = re.findall(r"^project\(weir VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    return version


def c_interface() -> str:
    """The text of weir.h, with weir_controller.h in it."""
    controller = (ESTIMATOR / "c/weir_controller.h").read_text()
    return (ESTIMATOR / "c/weir.h").read_text().replace('#include "weir_controller.h"\n', controller)


def model_bytes() -> str:
    """The model as numbers with commas between them."""
    model = MODEL.read_bytes()
    return "".join(",".join(map(str, model[i : i + 24])) + ",\n" for i in range(0, len(model), 24))


def main(folders: list[Path]) -> None:
    """Writes the files into the folders; those that have not changed stay, so that nothing is compiled again."""
    files = {
        "weir.cc": amalgamated(SOURCE),
        "weir.h": c_interface(),
        MOCC_HEADER: (ESTIMATOR / "c" / MOCC_HEADER).read_text(),
        MODEL_HEADER: model_bytes(),
    }
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            if not (folder / name).is_file() or (folder / name).read_text() != text:
                (folder / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main([Path(folder) for folder in sys.argv[1:]])
