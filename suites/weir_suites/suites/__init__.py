"""All suites by name, in the order of reports."""

from __future__ import annotations

from typing import Final

from weir_suites.suite import Suite
from weir_suites.suites import (
    calls,
    competition,
    fidelity,
    impairments,
    layers,
    natural,
    opponents,
    policy,
    repair,
    safety,
    send_side,
    shared_queues,
    steering,
    virtual,
)

SUITES: Final[dict[str, Suite]] = {
    suite.name: suite
    for suite in (
        *(one.SUITE for one in (policy, opponents, impairments, natural, safety, send_side, virtual, repair, calls)),
        calls.LOSSES,
        competition.SUITE,
        shared_queues.SUITE,
        layers.SUITE,
        steering.SUITE,
        fidelity.SUITE,
    )
}
