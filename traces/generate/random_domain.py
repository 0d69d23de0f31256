"""Random scenarios for training and for held-out evaluation.

One forward bottleneck with one RTP flow under test, drawn from:

| what | distribution |
|---|---|
| nominal capacity | log-uniform, 100 kbps to 50 Mbps |
| dynamics | constant 20 %, step 20 %, cellular 20 %, Wi-Fi 12 %, ramp 8 %, handover 7 %, sawtooth 7 %, outage 6 % |
| their parameters | log-uniform over the usual ranges named in `weir.traces.generate.generators` |
| one-way delay | log-uniform, 5 to 200 ms; the reverse link has the same |
| queue | 80 %: log-uniform 30 ms to 2 s of the mean capacity |
| | 20 %: bytes, log-uniform 10 kB to 1 MB, moved into 30 ms to 2 s of the mean capacity |
| discipline | drop-tail 90 %, CoDel 10 % |
| loss | none 60 %; Bernoulli 25 %, log-uniform 0.1 to 3 % |
| | Gilbert-Elliott 15 %: bad spells of 2 to 10 packets, log-uniform 0.1 to 2 % on average |
| jitter | none 60 %; truncated Gaussian 40 %, log-uniform 1 to 10 ms, at most three of them, one in ten reorders |
| reverse loss | the forward loss model in 30 %, none in 70 % |
| media | filler to 50 Mbps 60 %; filler to 0.2 to 1 of the mean capacity 15 % |
| | video 25 %, at most 150 kbps to 8 Mbps (log-uniform), at 15, 25, 30 or 60 frames per second |
| competitor | none 75 %; TCP Cubic or BBR 10 %; CBR of 10 to 50 % of the mean capacity 10 %; a second RTP flow 5 % |

A competitor comes for a random stretch of at least a fifth of the time. Rates are cut to 50 Mbps. The `train` and
`held_out` scenarios come from separate random streams: no seed of one repeats a scenario of the other.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from weir.traces.generate.generators import GENERATORS
from weir.traces.schema.capacity import CapacityTrace
from weir.traces.schema.scenario import Capacity, Scenario

Split = Literal["train", "held_out"]

LOWEST_BPS, HIGHEST_BPS = 100e3, 50e6
SHORTEST_DELAY_MS, LONGEST_DELAY_MS = 5.0, 200.0
SHORTEST_QUEUE_MS, LONGEST_QUEUE_MS = 30.0, 2000.0

_DYNAMICS = {
    "constant": 0.20, "step": 0.20, "cellular": 0.20, "wifi": 0.12, "ramp": 0.08, "handover": 0.07, "sawtooth": 0.07,
    "outage": 0.06,
}  # fmt: skip
_RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "constant": {},
    "step": {"low": (0.2, 0.6), "high": (1.2, 3.0), "shortest_s": (2.0, 6.0), "longest_s": (6.0, 25.0)},
    "ramp": {"low": (0.2, 0.7), "high": (1.2, 2.5), "cycle_s": (8.0, 80.0)},
    "sawtooth": {"low": (0.2, 0.7), "high": (1.2, 2.5), "tooth_s": (4.0, 40.0)},
    "cellular": {"dwell_s": (0.5, 8.0), "fade_probability": (0.01, 0.2), "variation": (0.1, 0.6)},
    "wifi": {"shadowing_db": (2.0, 8.0), "snr_db": (10.0, 30.0), "coherence_s": (0.3, 6.0), "contention": (0.05, 0.7)},
    "outage": {"gap_mean_s": (5.0, 30.0), "shortest_s": (0.2, 0.8), "longest_s": (0.8, 5.0)},
    "handover": {"gap_s": (8.0, 30.0), "fade_s": (0.5, 3.5), "edge": (0.1, 0.6), "failure_probability": (0.02, 0.4)},
}


def random_scenario(
    seed: int, *, split: Split = "train", duration_s: float = 60.0, name: str | None = None
) -> Scenario:
    """The scenario of a seed; the same arguments give the same scenario.

    Args:
        seed: 0 or greater.
        split: which of the two separate streams.
        duration_s: seconds, greater than 0; the trace's period too.
        name: None: ``random-SPLIT-SEED``.

    Raises:
        InputError: the duration is out of range.
    """
    rng = np.random.default_rng([{"train": 0, "held_out": 1}[split], seed])
    nominal = _log_uniform(rng, LOWEST_BPS, HIGHEST_BPS)
    dynamics = _choose(rng, _DYNAMICS)
    parameters = {key: _log_uniform(rng, *bounds) for key, bounds in _RANGES[dynamics].items()}
    trace = GENERATORS[dynamics](rng, duration_s, nominal, **parameters)
    trace = trace.clipped(0, HIGHEST_BPS)
    mean = trace.mean_bps()
    delay_ms = round(_log_uniform(rng, SHORTEST_DELAY_MS, LONGEST_DELAY_MS), 3)
    loss = _loss(rng)
    jitter = _jitter(rng)
    reverse_loss = loss if rng.random() < 0.3 else {"kind": "none"}
    media: dict[str, Any] = {"kind": "rtp", "id": "media", "media": _media(rng, mean)}
    return Scenario.make(
        name=name or f"random-{split}-{seed}",
        description=f"{dynamics}, about {_rate_text(nominal)}",
        provenance={"source": f"weir.traces.random_domain, {split}, seed {seed}", "licence": "BSD-3-Clause"},
        duration_s=duration_s,
        forward={
            "capacity": Capacity.from_trace(trace),
            "one_way_delay_ms": delay_ms,
            "queue": _queue(rng, mean),
            "queue_discipline": "codel" if rng.random() < 0.1 else "drop_tail",
            "loss": loss,
            "jitter": jitter,
        },
        reverse={"capacity": None, "one_way_delay_ms": delay_ms, "loss": reverse_loss},
        flows=[media, *_competitors(rng, trace, duration_s)],
    )


def _queue(rng: np.random.Generator, mean_bps: float) -> dict[str, Any]:
    if rng.random() < 0.8:
        return {"milliseconds": round(_log_uniform(rng, SHORTEST_QUEUE_MS, LONGEST_QUEUE_MS), 1)}
    size = _log_uniform(rng, 10e3, 1e6)
    low, high = SHORTEST_QUEUE_MS / 8e3 * mean_bps, LONGEST_QUEUE_MS / 8e3 * mean_bps
    return {"bytes": max(1500, int(np.clip(size, low, high)))}


def _loss(rng: np.random.Generator) -> dict[str, Any]:
    draw = rng.random()
    if draw < 0.60:
        return {"kind": "none"}
    if draw < 0.85:
        return {"kind": "bernoulli", "ratio": round(_log_uniform(rng, 0.001, 0.03), 5)}
    burst = rng.uniform(2, 10)
    mean = _log_uniform(rng, 0.001, 0.02)
    loss_bad = rng.uniform(0.3, 1.0)
    # The share of time in the bad state is good_to_bad / (good_to_bad + bad_to_good).
    bad_share = mean / loss_bad
    bad_to_good = 1 / burst
    return {
        "kind": "gilbert_elliott",
        "good_to_bad": round(bad_to_good * bad_share / (1 - bad_share), 6),
        "bad_to_good": round(bad_to_good, 5),
        "loss_good": 0.0,
        "loss_bad": round(loss_bad, 4),
    }


def _jitter(rng: np.random.Generator) -> dict[str, Any]:
    if rng.random() < 0.6:
        return {"kind": "none"}
    deviation = round(_log_uniform(rng, 1.0, 10.0), 2)
    return {
        "kind": "truncated_gaussian",
        "standard_deviation_ms": deviation,
        "maximum_ms": round(3 * deviation, 2),
        "reorder": bool(rng.random() < 0.1),
    }


def _media(rng: np.random.Generator, mean_bps: float) -> dict[str, Any]:
    draw = rng.random()
    if draw < 0.60:
        return {"kind": "filler", "max_rate_bps": HIGHEST_BPS}
    if draw < 0.75:
        return {"kind": "filler", "max_rate_bps": float(max(50e3, round(mean_bps * rng.uniform(0.2, 1.0))))}
    return {
        "kind": "video",
        "max_rate_bps": float(round(_log_uniform(rng, 150e3, 8e6))),
        "frames_per_second": float(rng.choice([15, 25, 30, 60])),
    }


def _competitors(rng: np.random.Generator, trace: CapacityTrace, duration_s: float) -> list[dict[str, Any]]:
    draw = rng.random()
    if draw < 0.75:
        return []
    start = round(rng.uniform(0.0, 0.6) * duration_s, 3)
    stop = round(min(duration_s, start + rng.uniform(0.2, 0.6) * duration_s), 3)
    when = {"start_s": start, "stop_s": stop}
    if draw < 0.85:
        return [{"kind": "tcp", "id": "tcp", "congestion_control": str(rng.choice(["cubic", "bbr"]))} | when]
    if draw < 0.95:
        rate = float(round(trace.mean_bps() * rng.uniform(0.1, 0.5)))
        return [{"kind": "cbr", "id": "cross", "rate_bps": rate} | when]
    return [{"kind": "rtp", "id": "competitor", "extra_one_way_delay_ms": round(rng.uniform(0, 50), 1)} | when]


def _choose(rng: np.random.Generator, weights: dict[str, float]) -> str:
    return str(rng.choice(list(weights), p=list(weights.values())))


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _rate_text(bps: float) -> str:
    return f"{bps / 1e6:.3g} Mbps" if bps >= 1e6 else f"{bps / 1e3:.3g} kbps"
