"""The scenarios of `weir paper muses`, in sets that have rows of their own.

| set | scenarios |
|---|---|
| `steady-wifi`, `fluctuating-wifi`, `lte` | Table III; LTE on the traces in `mahimahi/` with LTE in their names |
| `change` | from Wi-Fi to LTE while a call runs (`weir_papers.muses.networks`) |
| `sharing` | Table IV: 3 to 20 flows on LINK_BPS, 25 ms, 300 ms of queue; one more every JOIN_S, each for FLOW_S |
| `cross-traffic` | section IV-E, as a replay |

TCP is not a controller of RTP flows: a network with one TCP flow alone in the call's place is a scenario of its own.
"""

from __future__ import annotations

from pathlib import Path

from weir_cli.errors import InputError
from weir_eval.runs.scenario_sets import ScenarioSet
from weir_papers.muses.networks import muses_lte_test, muses_network_change, muses_wifi_test
from weir_traces.formats.importers import read_trace
from weir_traces.generate.published import muses_cross_traffic
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.scenario import Scenario

STEADY, FLUCTUATING, LTE = TABLE_III = ("steady-wifi", "fluctuating-wifi", "lte")
CHANGE, SHARING, CROSS_TRAFFIC = "change", "sharing", "cross-traffic"
CONGESTION_CONTROLS = ("cubic", "bbr")
FLOWS = (3, 5, 10, 15, 20)
LINK_BPS = 36e6
JOIN_S = 20.0
FLOW_S = 80.0
LTE_TRACES = "mahimahi"


def muses_sets(traces: Path | None, networks: int) -> dict[str, ScenarioSet]:
    """All sets by name. `traces` holds `mahimahi/`; `networks` is the number of each of Table III and of `change`.

    Raises:
        InputError: a trace cannot be used.
    """
    return {
        STEADY: ScenarioSet([muses_wifi_test("steady-wifi", seed) for seed in range(networks)]),
        FLUCTUATING: ScenarioSet([muses_wifi_test("fluctuating-wifi", seed) for seed in range(networks)]),
        LTE: _lte(traces, networks),
        CHANGE: ScenarioSet([muses_network_change(seed) for seed in range(networks)]),
        SHARING: ScenarioSet([sharing_scenario(flows) for flows in FLOWS]),
        CROSS_TRAFFIC: ScenarioSet([muses_cross_traffic()]),
    }


def sharing_scenario(flows: int) -> Scenario:
    """Several flows under test that start one after the other."""
    starts_s = [JOIN_S * place for place in range(flows)]
    return Scenario.make(
        name=f"sharing-{flows}",
        description=f"{flows} flows staggered by {JOIN_S:g} s, after Muses IV-D",
        provenance={"source": "Muses, section IV-D", "licence": "BSD-3-Clause"},
        duration_s=starts_s[-1] + FLOW_S,
        forward={"capacity": {"times_s": [0.0], "rates_bps": [LINK_BPS]}},
        flows=[
            {"kind": "rtp", "id": f"flow-{place + 1}", "start_s": start_s, "stop_s": start_s + FLOW_S}
            for place, start_s in enumerate(starts_s)
        ],
    )


def _lte(traces: Path | None, networks: int) -> ScenarioSet:
    files = sorted((traces / LTE_TRACES).glob("*LTE*")) if traces else []
    if not files:
        return ScenarioSet(missing="needs an LTE trace in mahimahi/ of --traces")
    recorded = [_capacity(file) for file in files]
    return ScenarioSet([muses_lte_test(recorded[seed % len(recorded)], seed) for seed in range(networks)])


def _capacity(file: Path) -> CapacityTrace:
    trace = read_trace(file, repair=True).capacity
    if trace is None:
        raise InputError(f"--traces {file}: its capacity is unlimited, so it is no trace of LTE")
    return trace
