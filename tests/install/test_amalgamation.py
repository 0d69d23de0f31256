"""The library as one file: compiles alone, with either compiler, and computes what the library computes."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "build/release/estimator/libweir.so"
CONSUMER = ROOT / "tests/install/amalgamation_consumer.c"
# GCC's as a host without exceptions builds it. Clang's as `make asan` does: quickly.
COMPILERS = {"g++": ["-O2", "-fno-exceptions", "-fno-rtti"], "clang++": ["-O1"]}
CACHE = ["ccache"] if shutil.which("ccache") else []


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=900, check=False, **options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("amalgamation")
    run(sys.executable, ROOT / "estimator/amalgamate.py", made)
    return made


@pytest.fixture(scope="module")
def library_prints(tmp_path_factory):
    program = tmp_path_factory.mktemp("library") / "consumer"
    run("cc", "-std=c11", f"-I{ROOT / 'estimator/c'}", CONSUMER, "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")
    printed = run(program)
    assert printed.count("receiver ") > 300
    assert printed.count("sender ") > 50
    assert len(set(re.findall(r"^\w+ .*?(\d{5,})", printed, re.MULTILINE))) > 300
    return printed


@pytest.mark.parametrize("compiler", COMPILERS)
def test_it_compiles_alone_and_gives_the_targets_of_the_library(compiler, folder, library_prints):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not here")
    warnings = ["-Wall", "-Wextra", "-Werror"]
    run(*CACHE, compiler, "-std=c++20", *COMPILERS[compiler], *warnings, "-c", "weir.cc", cwd=folder)
    run("cc", "-std=c11", "-pedantic", *warnings, "-fPIE", "-I.", "-c", CONSUMER, cwd=folder)
    run(compiler, "-static-pie", "amalgamation_consumer.o", "weir.o", "-o", "consumer", cwd=folder)
    assert run(folder / "consumer") == library_prints
    assert run(folder / "consumer", ROOT / "estimator/models/weir.onnx") == library_prints


def test_the_model_within_it_is_the_shipped_one(folder):
    written = re.findall(r"\d+", (folder / "weir_model.h").read_text())
    assert bytes(map(int, written)) == (ROOT / "estimator/models/weir.onnx").read_bytes()


def test_it_includes_nothing_but_itself_and_the_standard_library(folder):
    includes = re.findall(
        r"^ *# *include *(\S+)", (folder / "weir.cc").read_text() + (folder / "weir.h").read_text(), re.M
    )
    own = {name for name in includes if name.startswith('"')}
    assert own == {'"weir.h"', '"weir_model.h"'}
    assert {name for name in includes if name.endswith(".h>")} == {"<stddef.h>", "<stdint.h>", "<unistd.h>"}


def test_names_of_two_files_are_told_apart_in_code_alone():
    spec = importlib.util.spec_from_file_location("amalgamate", ROOT / "estimator/amalgamate.py")
    amalgamate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(amalgamate)
    code = "// Kind\nusing Kind = Step::Kind;\nconstexpr int kLow = 1, kHigh = 2;\nint Find(Kind a);\n"
    text = f"namespace {{\n{code}}}  // namespace\n"
    assert amalgamate.anonymous_names(text) >= {"Kind", "kLow", "Find"}
    line = 'Find(kLow, Kind::kLow, a.Find(), "Find")  // Find'
    assert (
        amalgamate.renamed(line, {"Find", "kLow", "Kind"}, "_x")
        == 'Find_x(kLow_x, Kind_x::kLow, a.Find(), "Find")  // Find'
    )


def test_without_a_folder_it_prints_its_usage():
    done = subprocess.run(
        [sys.executable, ROOT / "estimator/amalgamate.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "amalgamate.py FOLDER" in done.stderr
