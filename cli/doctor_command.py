"""`weir doctor`: the components of Weir on this machine, and how to install missing ones."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

import weir
from weir.console import output_console
from weir.errors import InputError, MissingComponent
from weir.installation import DISTRIBUTION, how_to_get, installed_version, packages_of, shipped_model, source_tree
from weir.qoe_eval.requirements import find_link_devices
from weir.qoe_eval.runs.simulator import simulator_versions
from weir.simulator.executables import find_program, find_simulator

# "run": Weir does not work without it. "build": needed to build Weir. "train", "test", "calls": needed only for these.
Need = Literal["run", "build", "train", "test", "calls"]

# The need for the packages of each extra.
_EXTRAS: dict[str, Need] = {"bench": "run", "call": "calls", "train": "train"}
_TEST_PACKAGES = ("mypy", "pytest", "ruff")
# The Makefile targets that install the components of each need.
_TARGETS: dict[Need, str] = {"run": "build", "train": "train", "test": "build-test", "calls": "webrtc"}
# Line width outside a terminal: longer than any path, so that text to copy or search stays on one line.
_LONGEST_LINE = 10_000
_PROGRAMS: tuple[tuple[str, Need, str, str], ...] = (
    ("g++", "build", "compiler", "apt-get install g++"),
    ("cmake", "build", "CMake", "apt-get install cmake"),
    ("ninja", "build", "Ninja", "apt-get install ninja-build"),
    ("chromium", "calls", "Chromium", "apt-get install chromium"),
    ("espeak-ng", "calls", "espeak-ng", "apt-get install espeak-ng"),
)
# Debian packages of the libraries that weir-sim is built from.
_LIBRARIES = (("ns-3", "libns3-dev"), ("libwebrtc", "libtgowt-dev"))


def doctor(as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False) -> None:
    """Show every component of Weir: its version, or what to install. Exit status 3 if a required one is missing."""
    found = components()
    missing = [component for component in found if component.required and component.found is None]
    if as_json:
        rows = [asdict(component) | {"required": component.required} for component in found]
        typer.echo(json.dumps({"ok": not missing, "components": rows}, indent=1))
    else:
        output_console(pipe_width=_LONGEST_LINE).print(_table(found))
    if missing:
        names = ", ".join(component.name for component in missing)
        raise MissingComponent(
            f"doctor: required and not there: {names}; {how_to_get('build')} installs and builds what is missing"
        )


def _table(found: list[Component]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("component", "", "needed to", "version, or what to do"):
        table.add_column(heading, overflow="fold")
    for component in found:
        state = Text("ok", "green") if component.found else Text("missing", "red" if component.required else "yellow")
        needed = "make calls" if component.need == "calls" else component.need
        table.add_row(component.name, state, needed, Text(component.found or component.remedy))
    return table


@dataclass(frozen=True)
class Component:
    """`found`: its version; None if it is missing, and then `remedy` has the cause or the command."""

    name: str
    need: Need
    found: str | None
    remedy: str = ""

    @property
    def required(self) -> bool:
        """True if Weir does not work without it."""
        return self.need == "run"


def components() -> list[Component]:
    """All components, the required first. Runs programs for their versions; takes about a second."""
    return [
        _distribution(),
        _operating_system(),
        *_simulator(),
        _model(),
        *_packages(),
        *_programs(),
        _namespaces(),
        *_webrtc(),
    ]


def _distribution() -> Component:
    installed = installed_version()
    found = installed and f"{installed}, {source_tree() or 'from a wheel'}"
    return Component(f"{DISTRIBUTION} (this)", "run", found, how_to_get("build"))


def _operating_system() -> Component:
    try:
        release = platform.freedesktop_os_release()
        name = release["PRETTY_NAME"]
        if (release["ID"], release.get("VERSION_ID")) == ("debian", "13"):
            name += "; calls need Debian 12 or the image weir-call, see docker/README.md"
    except (OSError, KeyError):
        name = platform.platform()
    return Component("operating system", "run", name)


def _simulator() -> Iterator[Component]:
    parts: dict[str, str] = {}
    try:
        path = find_simulator()
        parts = simulator_versions(path)
        yield Component("weir-sim", "run", f"{parts.get('weir', '?')}, {path}")
    except MissingComponent as error:
        yield Component("weir-sim", "run", None, str(error))
    keys = {"ns-3": "ns3", "libwebrtc": "libwebrtc"}
    for name, package in _LIBRARIES:
        inside = parts.get(keys[name])
        found = f"{inside} (in weir-sim)" if inside else _debian_version(package)
        yield Component(name, "run", found, f"apt-get install {package}, then {how_to_get('build')}")
    # The Python module and weir-sim each load it; both must find it.
    library = weir.onnxruntime_version() if parts.get("onnxruntime", "present") else None
    yield Component("onnxruntime, C library", "run", library or None, how_to_get("build", "onnxruntime"))


def _model() -> Component:
    from weir.files.model import read_model

    try:
        path = shipped_model()
        model = read_model(path)
        found = f"{model.name} {model.version}, {path.name}, SHA-256 {model.sha256[:12]}"
        return Component("model", "run", found.strip())
    except (MissingComponent, InputError) as error:
        return Component("model", "run", None, str(error))


def _packages() -> Iterator[Component]:
    yield Component("Python", "run", platform.python_version())
    yield Component("Python package numpy", "run", _package_version("numpy"), how_to_get("build", "numpy"))
    needs: dict[str, Need] = {}
    for extra, need in _EXTRAS.items():
        needs |= {name: need for name in packages_of(extra) if name not in needs}
    needs |= dict.fromkeys(_TEST_PACKAGES, "test")
    for name, need in needs.items():
        yield Component(f"Python package {name}", need, _package_version(name), how_to_get(_TARGETS[need], name))


def _programs() -> Iterator[Component]:
    for program, need, label, remedy in _PROGRAMS:
        yield Component(label, need, _program_version(program), remedy)


def _package_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _webrtc() -> Iterator[Component]:
    """The programs of `make webrtc`."""
    for name in ("weir-peer", "weir-virtual-call", "weir-event-log"):
        try:
            path = find_program(name)
            found = ", ".join(filter(None, (_program_version(str(path)), str(path))))
            yield Component(name, "calls", found)
        except MissingComponent as error:
            yield Component(name, "calls", None, str(error))


def _namespaces() -> Component:
    try:
        return Component("user and network namespaces", "calls", f"with {find_link_devices()}")
    except MissingComponent as error:
        return Component("user and network namespaces", "calls", None, str(error))


def _program_version(program: str) -> str | None:
    path = shutil.which(program)
    if path is None:
        return None
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\d+(?:\.\d+)+", output)
    return found[0] if found else output.strip().splitlines()[0]


def _debian_version(package: str) -> str | None:
    if not Path("/usr/bin/dpkg-query").exists():
        return None
    asked = subprocess.run(
        ["/usr/bin/dpkg-query", "-W", "-f=${Status}|${Version}", package],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    status, _, found = asked.stdout.partition("|")
    return found if status == "install ok installed" else None
