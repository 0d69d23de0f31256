"""Random scenarios for training and for held-out evaluation.

One forward bottleneck with one RTP flow under test. `natural_domain` lists the sources of the ranges, and mixes the
same impairments in other ways that training never draws. Distributions:

| what | distribution |
|---|---|
| nominal capacity | log-uniform, 50 kbps to 50 Mbps |
| dynamics | constant 29 %, step 17 %, cellular 17 %, Wi-Fi 10 %, ramp 6 %, handover 6 %, sawtooth 5 %, outage 5 %, |
| | alternating 5 %: steps every 0.4 to 2 s |
| parameters of dynamics | log-uniform over the usual ranges named in `weir_traces.generate.generators` |
| one-way delay | log-uniform, 5 to 400 ms, at the start |
| changes of delay | 10 %: 1 to 4 steps of 5 to 150 ms (log-uniform) up or down, within 5 to 500 ms |
| | 5 %: wanders 0 to 40 ms (uniform) above the initial delay, each level for 5 to 20 s |
| | 5 %: one ramp of 10 to 100 ms (log-uniform) up or down, in 5 to 30 s; constant 80 % |
| queue | 72 %: log-uniform 30 ms to 6 s of the mean capacity |
| | 18 %: bytes, log-uniform 10 kB to 1 MB, clipped to 30 ms to 6 s of the mean capacity |
| | 10 %: bytes of 2 to 20 full packets (log-uniform), regardless of the capacity |
| discipline | drop-tail 90 %, CoDel 10 % |
| loss | none 50 %; Bernoulli 32 %, log-uniform 0.1 to 15 % |
| | Gilbert-Elliott 14 %: bad spells of 2 to 10 packets, log-uniform 0.1 to 8 % on average |
| | policer 4 %: 0.3 to 0.9 of the mean capacity (50 kbps at least); bucket: log-uniform 10 to 200 kB, 2 s at most |
| jitter | none 50 %; truncated Gaussian 25 %, deviation log-uniform 1 to 70 ms, at most three deviations and 200 ms, |
| | one in ten reorders |
| | uniform 7 %, from 0 to log-uniform 2 to 200 ms; slotted 9 %, slots of log-uniform 5 to 200 ms |
| | spikes 9 %: every 0.3 to 10 s (log-uniform mean), shortest of 20 to 100 ms, longest up to 250 ms |
| return path | delay: as forward 90 % (half of its changes apply to both), else longer by log-uniform 5 to 500 ms |
| | loss: the forward loss model in 30 %, but no policer; jitter: in 10 %, of the above in the same proportions |
| | capacity: 60 to 300 kbps (log-uniform) in 5 %, else unlimited |
| sender's clock | 20 %: wrong by log-uniform 20 to 3000 ppm, fast or slow; else within 20 ppm. Any offset |
| | 2 %: set 1 to 3 times, by log-uniform 10 ms to 5 s, forwards or back |
| media | filler to 50 Mbps 40 %; filler to 0.2 to 1 of the mean capacity 8 % |
| | video 20 %, at most 0.2 to 1.5 times the mean capacity (log-uniform), 100 kbps to 20 Mbps, |
| | at 15, 25, 30 or 60 frames per second |
| | unsteady video 32 %, like that of real encoders, at most 0.5 to 3 times the mean capacity, |
| | 100 kbps to 20 Mbps: outputs 10 to 100 % of its target, stalls in 70 %, lags like libvpx in 50 %; of these |
| | 15 % are screens of 5 to 15 frames per second, 10 % pause for 3 to 20 s, half of them with DTX |
| competitor | none 70 %; TCP Cubic 6 %, NewReno 3 %, BBR 4 %; CBR of 10 to 50 % of the mean capacity 10 % |
| | a second RTP flow 7 % |

A fifth of the scenarios are calm: they have no impairments (changes of delay, loss, jitter, changes of the return path
or clock, competitors). In the others, impairments are drawn independently of each other. Shares are of all scenarios. A
competitor is active for a random interval of at least a fifth of the time. Rates are limited to 50 Mbps. The `train`
and `held_out` scenarios use separate random streams: no seed of one repeats a scenario of the other.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from weir_traces.generate.drawing import log_uniform
from weir_traces.generate.generators import GENERATORS
from weir_traces.generate.random_flows import HIGHEST_BPS, competitors, media_flow
from weir_traces.generate.random_path import (
    CALM_SHARE,
    LONGEST_DELAY_MS,
    SHORTEST_DELAY_MS,
    path_delay,
    path_jitter,
    path_loss,
    reverse_link,
)
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.flows import RtpFlow, VideoMedia
from weir_traces.schema.links import FULL_PACKET_BYTES, Link, SlottedJitter, TruncatedGaussianJitter, UniformJitter
from weir_traces.schema.scenario import Capacity, Scenario

Split = Literal["train", "held_out"]

LOWEST_BPS = 50e3
SHORTEST_QUEUE_MS, LONGEST_QUEUE_MS = 30.0, 6000.0
FEWEST_PACKETS, MOST_PACKETS = 2, 20

DYNAMICS = {
    "constant": 0.29, "step": 0.17, "alternating": 0.05, "cellular": 0.17, "wifi": 0.10, "ramp": 0.06,
    "handover": 0.06, "sawtooth": 0.05, "outage": 0.05,
}  # fmt: skip
_RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "constant": {},
    "step": {"low": (0.2, 0.6), "high": (1.2, 3.0), "shortest_s": (2.0, 6.0), "longest_s": (6.0, 25.0)},
    "alternating": {"low": (0.2, 0.6), "high": (1.2, 2.0), "shortest_s": (0.4, 0.6), "longest_s": (0.6, 2.0)},
    "ramp": {"low": (0.2, 0.7), "high": (1.2, 2.5), "cycle_s": (8.0, 80.0)},
    "sawtooth": {"low": (0.2, 0.7), "high": (1.2, 2.5), "tooth_s": (4.0, 40.0)},
    "cellular": {"dwell_s": (0.5, 8.0), "fade_probability": (0.01, 0.2), "variation": (0.1, 0.6)},
    "wifi": {"shadowing_db": (2.0, 8.0), "snr_db": (10.0, 30.0), "coherence_s": (0.3, 6.0), "contention": (0.05, 0.7)},
    "outage": {"gap_mean_s": (5.0, 30.0), "shortest_s": (0.2, 0.8), "longest_s": (0.8, 14.0)},
    "handover": {"gap_s": (8.0, 30.0), "fade_s": (0.5, 3.5), "edge": (0.1, 0.6), "failure_probability": (0.02, 0.4)},
}


def random_scenario(seed: int, *, split: Split = "train", duration_s: float = 60.0) -> Scenario:
    """The scenario of a seed; the same arguments give the same scenario.

    Args:
        seed: 0 or greater.
        split: the random stream.
        duration_s: seconds, greater than 0; also the trace's period.

    Raises:
        InputError: the duration is out of range.
    """
    rng = np.random.default_rng([{"train": 0, "held_out": 1}[split], seed])
    nominal = log_uniform(rng, LOWEST_BPS, HIGHEST_BPS)
    dynamics = str(rng.choice(list(DYNAMICS), p=list(DYNAMICS.values())))
    trace = random_capacity(rng, dynamics, duration_s, nominal)
    mean = trace.mean_bps()
    calm = bool(rng.random() < CALM_SHARE)
    base_ms = round(log_uniform(rng, SHORTEST_DELAY_MS, LONGEST_DELAY_MS), 3)
    delay = path_delay(rng, base_ms, duration_s, calm)
    loss = path_loss(rng, mean, calm)
    return Scenario.make(
        name=f"random-{split}-{seed}",
        description=f"{dynamics}, about {_rate_text(nominal)}",
        provenance={"source": f"weir_traces.generate.random_domain, {split}, seed {seed}", "licence": "BSD-3-Clause"},
        duration_s=duration_s,
        forward={
            "capacity": Capacity.from_trace(trace),
            "one_way_delay_ms": delay,
            "queue": _queue(rng, mean),
            "queue_discipline": "codel" if rng.random() < 0.1 else "drop_tail",
            "loss": loss,
            "jitter": path_jitter(rng, calm),
        },
        reverse=reverse_link(rng, base_ms, delay, loss, calm),
        flows=[media_flow(rng, mean, duration_s, calm), *competitors(rng, mean, duration_s, calm)],
    )


def is_ordinary(scenario: Scenario) -> bool:
    """True for a random scenario away from the edges of the domain: a one-way delay of at most 200 ms at the start,
    a queue of at most 2 s of the mean capacity, jitter of at most 40 ms (deviation), 60 ms (uniform) or slots of
    100 ms, an unlimited return path, no screen below 15 frames per second, no pause.
    """
    link, flow = scenario.forward, scenario.flows[0]
    delay, jitter = link.one_way_delay_ms, link.jitter
    start_delay_ms = delay if isinstance(delay, float) else delay.values_ms[0]
    match jitter:
        case TruncatedGaussianJitter():
            is_steady = jitter.standard_deviation_ms <= 40
        case UniformJitter():
            is_steady = jitter.maximum_ms <= 60
        case SlottedJitter():
            is_steady = jitter.interval_ms <= 100
        case _:
            is_steady = True
    is_thin = scenario.reverse.capacity is not None
    media = flow.media if isinstance(flow, RtpFlow) else None
    is_rare = isinstance(media, VideoMedia) and (bool(media.video_pauses_s) or media.frames_per_second < 15)
    is_short = _queue_ms(link, scenario.duration_s) <= 2000
    return start_delay_ms <= 200 and is_short and is_steady and not is_thin and not is_rare


def _queue_ms(link: Link, duration_s: float) -> float:
    """The limit of the queue in ms of the mean capacity; 0 if the capacity is unlimited."""
    if link.queue.milliseconds is not None:
        return link.queue.milliseconds
    mean_bps = link.mean_capacity_bps(duration_s)
    return 0.0 if mean_bps is None else 8e3 * link.queue.limit_bytes(mean_bps) / max(mean_bps, 1.0)


def random_capacity(rng: np.random.Generator, dynamics: str, duration_s: float, nominal_bps: float) -> CapacityTrace:
    """Capacity with these dynamics and random parameters, clipped to HIGHEST_BPS."""
    parameters = {key: log_uniform(rng, *bounds) for key, bounds in _RANGES[dynamics].items()}
    generator = GENERATORS["step" if dynamics == "alternating" else dynamics]
    return generator(rng, duration_s, nominal_bps, **parameters).clipped(0, HIGHEST_BPS)


def _queue(rng: np.random.Generator, mean_bps: float) -> dict[str, Any]:
    draw = rng.random()
    if draw < 0.72:
        return {"milliseconds": round(log_uniform(rng, SHORTEST_QUEUE_MS, LONGEST_QUEUE_MS), 1)}
    if draw < 0.90:
        size = log_uniform(rng, 10e3, 1e6)
        low, high = SHORTEST_QUEUE_MS / 8e3 * mean_bps, LONGEST_QUEUE_MS / 8e3 * mean_bps
        return {"bytes": max(FULL_PACKET_BYTES, int(np.clip(size, low, high)))}
    return {"bytes": FULL_PACKET_BYTES * round(log_uniform(rng, FEWEST_PACKETS, MOST_PACKETS))}


def _rate_text(bps: float) -> str:
    return f"{bps / 1e6:.3g} Mbps" if bps >= 1e6 else f"{bps / 1e3:.3g} kbps"
