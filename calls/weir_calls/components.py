"""The components of this distribution, for `weir doctor`: programs and rights that calls need."""

from __future__ import annotations

from collections.abc import Iterator

from weir_calls.requirements import find_link_devices
from weir_cli.components import Component, found_or_missing, found_program, program_version
from weir_sim.executables import find_peer, find_virtual_call

_PROGRAMS = (("chromium", "Chromium"), ("espeak-ng", "espeak-ng"))


def components() -> Iterator[Component]:
    """Debian's programs, network namespaces, and the programs of `make webrtc`."""
    for program, label in _PROGRAMS:
        yield Component(label, "calls", program_version(program), f"apt-get install {program}")
    yield found_or_missing("user and network namespaces", "calls", lambda: f"with {find_link_devices()}")
    yield found_program("weir-peer", "calls", find_peer)
    yield found_program("weir-virtual-call", "calls", find_virtual_call)
