"""Consumers of packages that cannot run: skipped and named, or an error where they are required."""

import hashlib
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
RUN = ROOT / "tests/plugins/consumers/run.sh"
TOOLS = (
    "bash", "basename", "chmod", "dirname", "find", "gzip", "mktemp", "mv", "realpath", "rm", "sed", "sha256sum", "tar",
    "tee", "uname",
)  # fmt: skip
# In the place of a compiler: the consumer that it links.
COMPILER = "#!/bin/sh\nprintf '#!/bin/sh\\necho 1000000 rule\\n' >consumer\nchmod +x consumer\n"


@pytest.fixture
def run(tmp_path):
    """run(required): run.sh on a machine with a compiler of C and C++ alone."""
    programs, packages = tmp_path / "bin", tmp_path / "packages"
    for folder in (programs, packages, tmp_path / "weir-1"):
        folder.mkdir()
    for tool in TOOLS:
        (programs / tool).symlink_to(shutil.which(tool))
    for compiler in ("cc", "c++"):
        (programs / compiler).write_text(COMPILER)
        (programs / compiler).chmod(0o755)
    with tarfile.open(packages / "weir-1.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "weir-1", "weir-1")
    digest = hashlib.sha256((packages / "weir-1.tar.gz").read_bytes()).hexdigest()
    (packages / "SHA256SUMS").write_text(f"{digest}  weir-1.tar.gz\n")

    def run_it(required):
        environment = {"PATH": str(programs), "WEIR_CONSUMERS": required}
        return subprocess.run([RUN, packages], env=environment, capture_output=True, text=True, check=False)

    return run_it


def consumers():
    return re.search(r'^consumers="(.*)"$', RUN.read_text(), re.MULTILINE)[1].split()


def test_every_consumer_that_cannot_run_is_named(run):
    done = run("C")
    assert (done.returncode, done.stderr) == (0, "")
    assert ["C", *re.findall(r"^== (\S+): skipped, since", done.stdout, re.MULTILINE)] == consumers()


@pytest.mark.parametrize(("required", "name"), [("musl", "musl"), ("Go", "Go"), ("C browser Node", "Node")])
def test_a_required_consumer_that_cannot_run_is_an_error(run, required, name):
    done = run(required)
    assert done.returncode == 3
    assert re.fullmatch(rf"WEIR_CONSUMERS: {name} must run, but .*; install it, or do not name {name}\n", done.stderr)


def test_an_unknown_consumer_is_an_error(run):
    done = run("C Cobol")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"WEIR_CONSUMERS: Cobol is none of {' '.join(consumers())} \n"


def test_the_release_requires_every_consumer():
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    job = workflow["jobs"]["packages"]
    required = [row["consumers"].split() for row in job["strategy"]["matrix"]["include"]]
    assert required[0] == consumers()
    assert set(required[1]) < set(consumers())
    (step,) = [step for step in job["steps"] if "test-packages" in step.get("run", "")]
    assert step["env"]["WEIR_CONSUMERS"] == "${{ matrix.consumers }}"


def test_every_go_file_is_in_a_module_of_the_repository():
    """Otherwise it is a package of a program that has the clone in a folder, and `go mod tidy` fails there."""
    sources = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", "*.go"], cwd=ROOT, text=True)
    folders = [path.parents for path in map(Path, sources.split())]
    assert folders
    outside = [parents[0] for parents in folders if not any((ROOT / folder / "go.mod").exists() for folder in parents)]
    assert outside == []
