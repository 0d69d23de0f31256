"""The components of this distribution, for `weir doctor`: programs and rights that calls need."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from weir_calls.requirements import find_link_devices
from weir_cli.components import Component, found_or_missing, program_version
from weir_sim.executables import find_program

_PROGRAMS = (("chromium", "Chromium"), ("espeak-ng", "espeak-ng"))


def components() -> Iterator[Component]:
    """Debian's programs, network namespaces, and the programs of `make webrtc`."""
    for program, label in _PROGRAMS:
        yield Component(label, "calls", program_version(program), f"apt-get install {program}")
    yield found_or_missing("user and network namespaces", "calls", lambda: f"with {find_link_devices()}")
    for name in ("weir-peer", "weir-virtual-call"):
        yield found_or_missing(name, "calls", functools.partial(_version_and_path, name))


def _version_and_path(name: str) -> str:
    path = str(find_program(name))
    return ", ".join(filter(None, (program_version(path), path)))
