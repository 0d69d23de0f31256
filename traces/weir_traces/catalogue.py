"""The bundled scenarios: written by ``python -m weir_traces.catalogue``, read by name.

Every capacity comes from this package's generators; none is third-party measurement data.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from weir_cli.files.output import write_text
from weir_traces.generate.generators import GENERATORS
from weir_traces.generate.pantheon import pantheon_scenarios
from weir_traces.generate.published import call_scenarios, rfc8867_scenarios
from weir_traces.listing import INDEX, not_bundled
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.links import QUEUE_DISCIPLINES
from weir_traces.schema.media import media_of
from weir_traces.schema.scenario import Capacity, Scenario

CATALOGUE_FOLDER = Path(__file__).parent / "catalogue"
PUBLISHED: dict[str, Callable[[], list[Scenario]]] = {
    "rfc8867": rfc8867_scenarios, "calls": call_scenarios, "pantheon": pantheon_scenarios,
}  # fmt: skip
"""The groups of scenarios from papers, by the names of their folders."""

_BUILDERS: dict[str, Callable[[], Scenario]] = {}
_CALL = {"kind": "rtp", "media": media_of("video")}


def bundled_names() -> list[str]:
    """Names of the bundled scenarios, in the catalogue's order."""
    return list(_BUILDERS)


def bundled_scenarios() -> list[Scenario]:
    """The bundled scenarios, from their files."""
    return [Scenario.load(CATALOGUE_FOLDER / f"{name}.json") for name in bundled_names()]


def load_bundled(name: str) -> Scenario:
    """A bundled scenario, RFC 8867 case, call scenario or emulator of Pantheon by its name.

    Raises:
        InputError: no scenario has that name.
    """
    for folder in ("", *PUBLISHED):
        path = CATALOGUE_FOLDER / folder / f"{name}.json"
        # The name may come from a command line: accept no path separators.
        if Path(name).name == name and path.is_file():
            return Scenario.load(path)
    raise not_bundled(name)


def build_catalogue() -> dict[Path, Scenario]:
    """Builds every bundled scenario; keyed by the path of its file."""
    groups = {"": [build() for build in _BUILDERS.values()]} | {name: make() for name, make in PUBLISHED.items()}
    return {
        CATALOGUE_FOLDER / group / f"{scenario.name}.json": scenario
        for group, found in groups.items()
        for scenario in found
    }


def write_catalogue() -> list[Path]:
    """Writes every file of the catalogue and its index; returns the paths of the scenarios."""
    built = build_catalogue()
    for path, scenario in built.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        scenario.save(path)
    write_text(INDEX, json.dumps(index()).replace('{"name"', '\n{"name"') + "\n")
    return list(built)


def index() -> dict[str, list[dict[str, Any]]]:
    """The index for `weir traces list`: one row per scenario, by group."""
    groups = {"bundled": bundled_scenarios()} | {name: make() for name, make in PUBLISHED.items()}
    return {group: [_row(scenario) for scenario in scenarios] for group, scenarios in groups.items()}


def _row(scenario: Scenario) -> dict[str, Any]:
    assert scenario.forward.capacity is not None
    trace = scenario.forward.capacity.trace()
    forward = scenario.forward
    (unit, limit), *_ = forward.queue.model_dump(exclude_none=True).items()
    queue = f"{limit:g} {({'milliseconds': 'ms', 'packets': 'pkt'}).get(unit, unit)}"
    return {
        "name": scenario.name,
        "description": scenario.description,
        "duration_s": scenario.duration_s,
        "min_capacity_bps": float(trace.rates_bps.min()),
        "mean_capacity_bps": trace.mean_bps(scenario.duration_s),
        "max_capacity_bps": float(trace.rates_bps.max()),
        "one_way_delay_ms": forward.mean_one_way_delay_ms(scenario.duration_s),
        "queue": f"{queue} {QUEUE_DISCIPLINES[forward.queue_discipline]}".rstrip(),
        "loss": forward.loss.kind,
        "jitter": forward.jitter.kind,
        "flows": ", ".join(flow.id for flow in scenario.flows),
    }


def _generated(name: str, kind: str, duration_s: float, rate_bps: float, **parameters: Any) -> CapacityTrace:
    # The seed derives from the name, so that a new scenario does not change the others.
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return GENERATORS[kind](rng, duration_s, rate_bps, **parameters)


def _add(
    name: str,
    description: str,
    capacity: CapacityTrace,
    source: str,
    *,
    delay_ms: float = 25,
    flows: list[dict[str, Any]] | None = None,
    reverse: dict[str, Any] | None = None,
    **forward: Any,
) -> None:
    assert name not in _BUILDERS, f"{name} is there already"

    def build() -> Scenario:
        return Scenario.make(
            name=name,
            description=description,
            provenance={"source": f"weir_traces.catalogue: {source}", "licence": "BSD-3-Clause"},
            duration_s=capacity.period_s,
            forward={"capacity": Capacity.from_trace(capacity), "one_way_delay_ms": float(delay_ms)} | forward,
            flows=flows or [_CALL],
            **({"reverse": reverse} if reverse else {}),
        )

    _BUILDERS[name] = build


def _steady(name: str, rate_bps: float, duration_s: float, description: str, **options: Any) -> None:
    _add(name, description, _generated(name, "constant", duration_s, rate_bps), "constant", **options)


def _random(name: str, kind: str, duration_s: float, rate_bps: float, description: str, **options: Any) -> None:
    parameters = options.pop("parameters", {})
    shown = "".join(f", {key}={value}" for key, value in parameters.items())
    source = f"{kind}, {duration_s:g} s, {rate_bps:g} bit/s{shown}, seed crc32(name)"
    _add(name, description, _generated(name, kind, duration_s, rate_bps, **parameters), source, **options)


_steady("steady-100k", 100e3, 60, "The slowest path, far away", delay_ms=200, queue={"milliseconds": 1000.0})
_steady("steady-300k", 300e3, 60, "A steady slow path")
_steady("steady-1m", 1e6, 60, "A steady path of 1 Mbps")
_steady("steady-2m5", 2.5e6, 60, "A steady path for one good call")
_steady("steady-8m", 8e6, 40, "A steady fast path")
_steady("steady-30m", 30e6, 30, "A steady very fast path")
_steady("steady-50m", 50e6, 20, "The fastest path, close by", delay_ms=5, queue={"milliseconds": 50.0})
_add(
    "step-down-up", "A path that loses three quarters of its capacity and regains it",
    CapacityTrace(np.array([0.0, 20.0, 40.0]), np.array([2.5e6, 0.6e6, 2.5e6]), 60), "levels",
)  # fmt: skip
_random("steps", "step", 60, 1.5e6, "Random steps on a longer path", delay_ms=50)
_random("sawtooth", "sawtooth", 60, 3e6, "Capacity that grows slowly and breaks down at once", delay_ms=40)
_random("cellular-500k", "cellular", 60, 500e3, "A weak cellular link with a deep queue", delay_ms=50,
        queue={"milliseconds": 1000.0})  # fmt: skip
_random("cellular-3m", "cellular", 60, 3e6, "A usual cellular link", delay_ms=40, queue={"milliseconds": 600.0},
        jitter={"kind": "truncated_gaussian", "standard_deviation_ms": 4.0, "maximum_ms": 15.0})  # fmt: skip
_random("cellular-12m", "cellular", 40, 12e6, "A fast cellular link that changes within fractions of a second",
        parameters={"dwell_s": 0.6, "variation": 0.5}, delay_ms=20)  # fmt: skip
_random("wifi-5m", "wifi", 60, 5e6, "Wi-Fi at the edge of its range, before a home uplink",
        parameters={"snr_db": 14.0}, delay_ms=15,
        jitter={"kind": "truncated_gaussian", "standard_deviation_ms": 3.0, "maximum_ms": 20.0})  # fmt: skip
_random("wifi-20m", "wifi", 30, 20e6, "Wi-Fi with other stations on a short path", parameters={"contention": 0.6},
        delay_ms=8, queue={"milliseconds": 150.0})  # fmt: skip
_random("outage", "outage", 60, 2e6, "A good path that goes away for seconds", delay_ms=30,
        queue={"milliseconds": 800.0})  # fmt: skip
_random("handover", "handover", 60, 6e6, "A drive from cell to cell", delay_ms=35, queue={"milliseconds": 400.0})
_steady("lossy-random", 2e6, 60, "Independent loss of 2 % that no queue causes", delay_ms=60,
        loss={"kind": "bernoulli", "ratio": 0.02})  # fmt: skip
_steady("lossy-bursty", 4e6, 40, "Loss in bursts, 2 % on average, also on the return path",
        loss={"kind": "gilbert_elliott", "good_to_bad": 0.01, "bad_to_good": 0.24, "loss_good": 0.0, "loss_bad": 0.5},
        reverse={"loss": {"kind": "bernoulli", "ratio": 0.02}})  # fmt: skip
_steady("jittery", 1.5e6, 60, "A long path with much jitter", delay_ms=100,
        jitter={"kind": "truncated_gaussian", "standard_deviation_ms": 15.0, "maximum_ms": 60.0})  # fmt: skip
_random("short-queue", "step", 60, 4e6, "Steps before a queue of twelve packets", queue={"packets": 12})
_steady("long-queue", 1e6, 60, "Two seconds of queue: bufferbloat", queue={"milliseconds": 2000.0})
_random("codel", "ramp", 60, 3e6, "Slow change under CoDel", queue={"milliseconds": 1000.0}, queue_discipline="codel")
_steady("tcp-competitor", 5e6, 60, "TCP Cubic runs for half of the time", delay_ms=30,
        flows=[_CALL, {"kind": "tcp", "start_s": 15.0, "stop_s": 45.0}])  # fmt: skip
_steady("application-limited", 10e6, 60, "A call that cannot fill its path, and pauses",
        flows=[{"kind": "rtp", "pauses_s": [[30.0, 40.0]], "media": media_of("video", max_rate_bps=1.5e6)}],
        )  # fmt: skip
_random("call-on-cellular", "cellular", 60, 2e6, "A call whose encoder is now the limit, now not", delay_ms=45)


if __name__ == "__main__":
    sys.stdout.write(f"{len(write_catalogue())} scenarios written below {CATALOGUE_FOLDER}\n")
