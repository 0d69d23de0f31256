"""Checks that this machine has everything that a link needs, before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weir.errors import MissingComponent
from weir.qoe_eval.link.namespaces import CallNamespaces, NamespacesFailed
from weir.simulator.executables import find_simulator


def check_link_requirements() -> None:
    """Raises MissingComponent with everything that a link lacks."""
    check("a link", missing(find_link_devices, find_simulator))


def find_link_devices() -> str:
    """The kind of devices that a link has here. Raises MissingComponent where this user may make none."""
    try:
        with CallNamespaces() as namespaces:
            return namespaces.devices
    except NamespacesFailed as error:
        raise MissingComponent(str(error)) from None


def missing(*finds: Callable[[], object]) -> list[str]:
    """Calls the functions, and returns what each lacks, with its remedy."""
    lacking = []
    for find in finds:
        try:
            find()
        except MissingComponent as error:
            lacking.append(str(error))
    return lacking


def check(what: str, lacking: Sequence[str]) -> None:
    """Raises MissingComponent that lists what is lacking for a link or call, if anything is."""
    if lacking:
        listed = "\n".join(f"  - {one}" for one in lacking)
        raise MissingComponent(f"{what} cannot be made here; missing:\n{listed}")
