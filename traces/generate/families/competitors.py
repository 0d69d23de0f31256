"""Who else uses the path."""

from __future__ import annotations

from weir.traces.generate.families.family import Case, Family

TCP_JOINS_AT_S = 15.0
TCP_LEAVES_AT_S = 45.0
CONGESTION_CONTROLS = ("cubic", "newreno", "bbr")


def tcp() -> Family:
    """One TCP flow starts after 15 s, and stays, or stops after another 30 s; also on 5 Mbps."""
    cases = []
    for control in CONGESTION_CONTROLS:
        joins = {"kind": "tcp", "congestion_control": control, "start_s": TCP_JOINS_AT_S}
        cases += [
            Case(f"{control}-stays", others=[joins]),
            Case(f"{control}-leaves", others=[joins | {"stop_s": TCP_LEAVES_AT_S}]),
        ]
    return Family("tcp", "A TCP flow starts later", cases, rates_bps=(1e6, 4e6, 5e6, 10e6))
