"""Checks that this machine meets all requirements of a link before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weir.errors import MissingComponent
from weir.qoe_eval.link.namespaces import CallNamespaces, NamespacesFailed
from weir.simulator.executables import find_simulator


def check_link_requirements() -> None:
    """Raises MissingComponent with all unmet requirements of a link."""
    check("a link", missing(find_link_devices, find_simulator))


def find_link_devices() -> str:
    """The kind of devices of links on this machine. Raises MissingComponent if this user may not create any."""
    try:
        with CallNamespaces() as namespaces:
            return namespaces.devices
    except NamespacesFailed as error:
        raise MissingComponent(str(error)) from None


def missing(*finds: Callable[[], object]) -> list[str]:
    """Calls the functions, and returns the missing components, with remedies."""
    lacking = []
    for find in finds:
        try:
            find()
        except MissingComponent as error:
            lacking.append(str(error))
    return lacking


def check(what: str, lacking: Sequence[str]) -> None:
    """Raises MissingComponent with the list of missing components of a link or call, if there are any."""
    if lacking:
        listed = "\n".join(f"  - {one}" for one in lacking)
        raise MissingComponent(f"{what} cannot be made here; missing:\n{listed}")
