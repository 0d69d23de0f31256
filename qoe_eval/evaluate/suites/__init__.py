"""The suites by name, in the order of reports."""

from __future__ import annotations

from typing import Final

from weir.qoe_eval.evaluate.suite import Suite
from weir.qoe_eval.evaluate.suites import (
    calls,
    fidelity,
    impairments,
    losses,
    natural,
    opponents,
    policy,
    safety,
    send_side,
    virtual,
)

SUITES: Final[dict[str, Suite]] = {
    module.SUITE.name: module.SUITE
    for module in (policy, opponents, impairments, natural, safety, send_side, virtual, calls, losses, fidelity)
}
