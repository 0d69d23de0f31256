"""Mixtures of realistic networks and calls that training never draws, to evaluate models outside their domain.

Each scenario is a plain call (25 ms each way, a queue of 300 ms, a camera) on a link of log-uniform 50 kbps to
500 Mbps, with up to six changes. Sources of their ranges:

| what | drawn | source |
|---|---|---|
| capacity | alternates every 0.5 to 2 s, steps, or fails for up to 14 s | radio rate adaptation; handovers |
| round trip | log-uniform, 60 to 800 ms | geostationary satellites: above 500 ms (RFC 2488, section 2) |
| queue | 2 to 20 packets; 1 to 6 s; CoDel | shallow switches; cellular bufferbloat (Jiang et al., IMC 2012) |
| jitter | 10 to 200 ms, of four kinds | Wi-Fi delays a tenth of packets by 100 ms (Pei et al., INFOCOM 2016) |
| | | and a hundredth by 250 ms (Sui et al., MobiSys 2016) |
| sender's clock | wrong by 100 to 3000 ppm | timestamps by the clock of a sound device; NTP slews by 500 (RFC 5905) |
| loss | 0.5 to 15 %, independent, or to 8 % in bursts | Wi-Fi at the edge of its range |
| policer | 0.4 to 1 of the capacity | Flach et al., SIGCOMM 2016 |
| TCP | starts before or during the call | |
| return path | loses up to 10 %, or carries 60 to 300 kbps | ADSL, satellites |
| content | screen sharing at 5 to 15 frames/s, video pauses, audio with DTX, filler | |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from weir_traces.generate.drawing import log_uniform
from weir_traces.generate.families.call import CONGESTION_CONTROLS
from weir_traces.generate.families.family import Fields, steady
from weir_traces.generate.families.path import bernoulli, gilbert_elliott, slotted, spikes, truncated_gaussian, uniform
from weir_traces.generate.random_flows import DTX
from weir_traces.schema.links import FULL_PACKET_BYTES
from weir_traces.schema.media import media_of
from weir_traces.schema.scenario import Scenario
from weir_traces.schema.variation import WITHOUT

DURATION_S = 60.0
_STREAM = 20261123
_LOWEST_BPS, _HIGHEST_BPS = 50e3, 500e6
_ONE_WAY_DELAY_MS = 25.0
_MOST_TROUBLES = 6


def natural_scenario(seed: int, without: str = "") -> Scenario:
    """The mixture of a seed, 0 or greater; `without` removes one of its impairments and changes nothing else."""
    rng = np.random.default_rng([_STREAM, seed])
    rate_bps = float(round(log_uniform(rng, _LOWEST_BPS, _HIGHEST_BPS)))
    video: Fields = {
        "max_rate_bps": float(round(np.clip(rate_bps * log_uniform(rng, 0.3, 3.0), 100e3, 8e6))),
        "minimum_output_share": round(float(rng.uniform(0.3, 1.0)), 3),
    }
    scenario: dict[str, Fields] = {
        "forward": {"capacity": steady(rate_bps), "one_way_delay_ms": _ONE_WAY_DELAY_MS},
        "reverse": {"capacity": None},
        "flow": {},
        "media": media_of("video", **video),
        "other": {},
    }
    troubles = [name for name in troubles_of(seed) if name != without]
    for name in troubles:
        own = np.random.default_rng([_STREAM, seed, list(_TROUBLES).index(name)])
        for part, fields in _TROUBLES[name][0](own, rate_bps).items():
            scenario[part] = dict(fields) if part == "media" and "kind" in fields else scenario[part] | fields
    flow = {"kind": "rtp", "media": scenario["media"], **scenario["flow"]}
    return Scenario.make(
        name=f"natural-{seed}" + (WITHOUT + without if without else ""),
        description=", ".join(troubles) or "a plain call",
        provenance={"source": f"weir_traces.generate.natural_domain, seed {seed}", "licence": "BSD-3-Clause"},
        duration_s=DURATION_S,
        forward=scenario["forward"],
        reverse=scenario["reverse"] | {"one_way_delay_ms": scenario["forward"]["one_way_delay_ms"]},
        flows=[flow, *([scenario["other"]] if scenario["other"] else [])],
    )


def troubles_of(seed: int) -> list[str]:
    """The names of the impairments in the mixture of a seed; at most one of those that exclude each other."""
    rng = np.random.default_rng([_STREAM, seed, len(_TROUBLES)])
    weights = np.array([weight for _, weight in _TROUBLES.values()])
    count = int(rng.integers(0, _MOST_TROUBLES, endpoint=True))
    drawn = rng.choice(list(_TROUBLES), size=count, replace=False, p=weights / weights.sum()).tolist()
    one_of_each = {name.partition("-")[0]: name for name in drawn}
    return [name for name in _TROUBLES if name in one_of_each.values()]


def _alternating(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    half_s = round(log_uniform(rng, 0.5, 2.0), 3)
    low = float(round(rate_bps * rng.uniform(0.2, 0.6)))
    capacity = {"times_s": [0.0, half_s], "rates_bps": [rate_bps, low], "period_s": 2 * half_s}
    return {"forward": {"capacity": capacity}}


def _stepping(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    times_s = [0.0, *np.sort(rng.uniform(5, 55, 3)).round(2).tolist()]
    rates_bps = [float(round(rate_bps * log_uniform(rng, 0.2, 1.0))) for _ in times_s]
    return {"forward": {"capacity": {"times_s": times_s, "rates_bps": rates_bps}}}


def _failing(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    from_s = round(float(rng.uniform(10, 35)), 2)
    until_s = round(from_s + log_uniform(rng, 0.5, 14.0), 2)
    return {"forward": {"capacity": {"times_s": [0.0, from_s, until_s], "rates_bps": [rate_bps, 0.0, rate_bps]}}}


def _round_trip(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"forward": {"one_way_delay_ms": round(log_uniform(rng, 30, 400), 1)}}


def _short_queue(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"forward": {"queue": {"packets": round(log_uniform(rng, 2, 20))}}}


def _deep_queue(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"forward": {"queue": {"milliseconds": round(log_uniform(rng, 1000, 6000))}}}


def _codel(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"forward": {"queue_discipline": "codel"}}


def _gaussian_jitter(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    deviation_ms = round(log_uniform(rng, 5, 70), 1)
    jitter = truncated_gaussian(deviation_ms) | {"maximum_ms": round(min(3 * deviation_ms, 200.0), 1)}
    return {"forward": {"jitter": jitter}}


def _uniform_jitter(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"forward": {"jitter": uniform(round(log_uniform(rng, 20, 200), 1))}}


def _slotted_jitter(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"forward": {"jitter": slotted(round(log_uniform(rng, 10, 200), 1))}}


def _spikes(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    shortest_ms = round(log_uniform(rng, 20, 100), 1)
    return {"forward": {"jitter": spikes(round(log_uniform(rng, 0.3, 5), 2), shortest_ms)}}


def _clock(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    ppm = log_uniform(rng, 100, 3000) * rng.choice([-1, 1])
    return {"flow": {"sender_clock_ppm": round(float(ppm), 1)}}


def _random_loss(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"forward": {"loss": bernoulli(round(log_uniform(rng, 0.005, 0.15), 4))}}


def _bursty_loss(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"forward": {"loss": gilbert_elliott(round(log_uniform(rng, 0.005, 0.08), 4))}}


def _policer(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    policed_bps = float(round(rate_bps * rng.uniform(0.4, 1.0)))
    burst = max(10 * FULL_PACKET_BYTES, round(policed_bps * rng.uniform(0.05, 0.5) / 8))
    return {"forward": {"loss": {"kind": "policer", "rate_bps": policed_bps, "burst_bytes": burst}}}


def _tcp_before(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    stop_s = round(float(rng.uniform(20, 50)), 2)
    return {"flow": {"start_s": 5.0}, "other": _tcp(rng) | {"stop_s": stop_s}}


def _tcp_joins(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    start_s = round(float(rng.uniform(10, 35)), 2)
    return {"other": _tcp(rng) | {"start_s": start_s, "stop_s": round(start_s + float(rng.uniform(10, 25)), 2)}}


def _tcp(rng: np.random.Generator) -> Fields:
    return {"kind": "tcp", "id": "tcp", "congestion_control": str(rng.choice(CONGESTION_CONTROLS))}


def _losing_reverse(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"reverse": {"loss": bernoulli(round(log_uniform(rng, 0.01, 0.1), 4))}}


def _thin_reverse(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"reverse": {"capacity": steady(float(round(log_uniform(rng, 60e3, 300e3))))}}


def _screen(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    screen = {"frames_per_second": float(rng.integers(5, 15, endpoint=True)), "stall_probability": 0.05}
    return {"media": screen | {"minimum_output_share": 0.1}}


def _video_pause(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"media": {"video_pauses_s": _pause(rng)}}


def _dtx(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"media": {"video_pauses_s": _pause(rng), **DTX}}


def _pause(rng: np.random.Generator) -> list[list[float]]:
    from_s = round(float(rng.uniform(10, 35)), 2)
    return [[from_s, round(from_s + float(rng.uniform(3, 20)), 2)]]


def _filler(rng: np.random.Generator, rate_bps: float) -> Mapping[str, Fields]:
    return {"media": media_of("filler")}


# Impairments and their weights, by name; a scenario has at most one of those with the same first word.
_TROUBLES: Mapping[str, tuple[Callable[[np.random.Generator, float], Mapping[str, Fields]], float]] = {
    "capacity-alternates": (_alternating, 1.0),
    "capacity-steps": (_stepping, 1.0),
    "capacity-fails": (_failing, 1.0),
    "round-trip": (_round_trip, 3.0),
    "queue-short": (_short_queue, 1.5),
    "queue-deep": (_deep_queue, 1.0),
    "codel": (_codel, 0.5),
    "jitter-gaussian": (_gaussian_jitter, 1.0),
    "jitter-uniform": (_uniform_jitter, 1.0),
    "jitter-slotted": (_slotted_jitter, 0.7),
    "jitter-spikes": (_spikes, 0.7),
    "clock": (_clock, 1.5),
    "loss-random": (_random_loss, 1.0),
    "loss-bursty": (_bursty_loss, 0.7),
    "loss-policer": (_policer, 0.5),
    "tcp-before": (_tcp_before, 0.5),
    "tcp-joins": (_tcp_joins, 0.7),
    "reverse-loses": (_losing_reverse, 0.7),
    "reverse-thin": (_thin_reverse, 0.7),
    "content-screen": (_screen, 1.0),
    "content-pause": (_video_pause, 0.5),
    "content-dtx": (_dtx, 0.5),
    "content-filler": (_filler, 1.0),
}
