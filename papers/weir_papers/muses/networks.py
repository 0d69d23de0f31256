"""The networks of Muses (Zhong et al., INFOCOM 2022): Table II, to train in, and Table III, to test in.

| what | Table II, Wi-Fi | Table II, LTE/3G | steady Wi-Fi | fluctuating Wi-Fi | LTE |
|---|---|---|---|---|---|
| path loss exponent | 4 to 6 | | 4 to 6 | 4 to 6 | |
| shadowing, dB | 0 to 20 | | 3 | 10 | |
| distance, m | 1 to 500 | | 5 | 20 | |
| speed, m/s | 0 to 10 | | 0 | 1.2 | |
| one-way delay, ms | 5 to 150 | 5 to 150 | 20 to 30 | 20 to 50 | 20 to 50 |
| loss | 0 to 5 % | 0 to 5 % | none | 0.1 % | none |
| buffer | 1.5 to 3,000 kB | 1.5 to 3,000 kB | 300 kB | 300 kB | 300 kB |

Uniform, but for the buffer, whose logarithm is. Where the paper is silent or Weir departs from it:

- Its LTE/3G traces are recordings of AT&T and T-Mobile, which Weir only tests with: `cellular` and `handover` of
  `weir_traces.generate.random_domain` stand for them, 300 kbps to 30 Mbps. LTE is tested on any recorded trace, each
  time from another of its moments.
- No LTE network is down for more than LONGEST_OUTAGE_S.
- The rate of Wi-Fi's fastest scheme: 2 to 40 Mbps in Table II, TEST_RATE_BPS in Table III.
- No client is further away than the slowest scheme reaches without shadowing, 16 to 63 m.
- What it calls the variance of the shadowing is a standard deviation: Mininet-WiFi, which made its traces, hands it to
  a Gaussian as that.

The `train` and `held_out` scenarios of Table II come from separate random streams, and those of Table III from others.
"""

from __future__ import annotations

import itertools
from typing import Any, Literal

import numpy as np

from weir_cli.errors import InputError
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.generate.drawing import log_uniform
from weir_traces.generate.radio import MCS_MINIMUM_SNR_DB
from weir_traces.generate.random_domain import Split, random_capacity
from weir_traces.generate.wifi_mobility import SNR_AT_1_M_DB, wifi_mobility
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.links import FULL_PACKET_BYTES, Queue
from weir_traces.schema.media import with_media
from weir_traces.schema.scenario import Scenario
from weir_traces.schema.values_over_time import DelayOverTime

WifiTest = Literal["steady-wifi", "fluctuating-wifi"]

TEST_RATE_BPS = 40e6
"""One stream of 802.11n, 65 Mbps, less what preambles, contention and acknowledgements take."""
TEST_DURATION_S = 100.0
LARGEST_DELAYS_MS = (20.0, 50.0, 100.0, 150.0)
"""Upper ends of Figure 1b, the last that of Table II."""
CHANGE_AT_S = 30.0
LONGEST_OUTAGE_S = 10.0
_LTE_INTERVAL_S = 0.2
_MOST_DRAWS = 1000
_AFTER_CHANGE_S = 60.0
_SMALLEST_DELAY_MS = 5.0
_PATH_LOSS_EXPONENTS = (4.0, 6.0)
_TEST_BUFFER = Queue(bytes=300_000)
_STREAMS = {"train": 0, "held_out": 1, "steady-wifi": 2, "fluctuating-wifi": 3, "lte": 4, "change": 5}


def muses_scenario(
    seed: int, *, split: Split = "train", duration_s: float = 60.0, largest_delay_ms: float = LARGEST_DELAYS_MS[-1]
) -> Scenario:
    """A network of Table II, half of them Wi-Fi; the same arguments give the same scenario. `largest_delay_ms` is one
    way, from 5 ms on: Figure 1b narrows the range.

    Raises:
        InputError: the duration is out of range.
    """
    rng = _rng(split, seed)
    if rng.random() < 0.5:
        kind, trace = "wifi", _training_wifi(rng, duration_s)
    else:
        kind = str(rng.choice(["cellular", "handover"]))
        trace = random_capacity(rng, kind, duration_s, log_uniform(rng, 300e3, 30e6))
    return _filled(
        trace,
        f"muses-{split}-{kind}-{seed}",
        one_way_delay_ms=round(rng.uniform(_SMALLEST_DELAY_MS, largest_delay_ms), 2),
        queue=Queue(bytes=round(log_uniform(rng, FULL_PACKET_BYTES, 3e6))),
        loss_ratio=round(rng.uniform(0, 0.05), 4),
        provenance=_provenance("Table II"),
    )


def muses_wifi_test(kind: WifiTest, seed: int, duration_s: float = TEST_DURATION_S) -> Scenario:
    """A Wi-Fi network of Table III; seeds from 0 on."""
    rng = _rng(kind, seed)
    steady = kind == "steady-wifi"
    trace = wifi_mobility(
        rng,
        duration_s,
        TEST_RATE_BPS,
        path_loss_exponent=rng.uniform(*_PATH_LOSS_EXPONENTS),
        shadowing_db=3.0 if steady else 10.0,
        distance_m=5.0 if steady else 20.0,
        speed_mps=0.0 if steady else 1.2,
    )
    return _test_scenario(rng, trace, f"{kind}-{seed}", 30.0 if steady else 50.0, None if steady else 0.001)


def muses_lte_test(recorded: CapacityTrace, seed: int, duration_s: float = TEST_DURATION_S) -> Scenario:
    """An LTE network of Table III: a recorded trace (with a period) from a moment that the seed draws; seeds from 0 on.

    The moment is the first drawn after which no outage is longer than LONGEST_OUTAGE_S: a link that is down for most of
    a test tells nothing of the rates on it.

    Raises:
        InputError: the trace has no period, or no such moment is found.
    """
    rng = _rng("lte", seed)
    for _ in range(_MOST_DRAWS):
        start_s = rng.uniform(0, recorded.period_s or 1.0)
        trace = resampled(recorded.starting_at(start_s), duration_s)
        if _longest_outage_s(trace) <= LONGEST_OUTAGE_S:
            return _test_scenario(rng, trace, f"lte-{seed}", 50.0, None)
    raise InputError(f"LTE: the trace has outages of more than {LONGEST_OUTAGE_S:g} s wherever a test begins")


def resampled(trace: CapacityTrace, duration_s: float) -> CapacityTrace:
    """Means over consecutive _LTE_INTERVAL_S, of which the last may be shorter; the integral over the whole is kept."""
    count = max(1, int(np.ceil(duration_s / _LTE_INTERVAL_S - 1e-9)))
    edges = np.append(np.arange(count) * _LTE_INTERVAL_S, duration_s)
    means = trace.integrate(edges[:-1], edges[1:]) / np.diff(edges)
    # A difference of two sums is off by a rounding error; a mean is not.
    return CapacityTrace(edges[:-1], np.clip(means, trace.rates_bps.min(), trace.rates_bps.max()), duration_s)


def _longest_outage_s(trace: CapacityTrace) -> float:
    runs = (len(list(group)) for rate, group in itertools.groupby(trace.rates_bps) if rate == 0)
    return _LTE_INTERVAL_S * max(runs, default=0)


def muses_network_change(seed: int) -> Scenario:
    """From steady Wi-Fi to LTE (`cellular`, 1 to 8 Mbps) at CHANGE_AT_S, as when someone leaves the house; 90 s."""
    rng = _rng("change", seed)
    wifi = wifi_mobility(rng, CHANGE_AT_S, TEST_RATE_BPS, shadowing_db=3.0, distance_m=5.0, speed_mps=0.0)
    lte = random_capacity(rng, "cellular", _AFTER_CHANGE_S, log_uniform(rng, 1e6, 8e6))
    duration_s = CHANGE_AT_S + _AFTER_CHANGE_S
    return _filled(
        CapacityTrace(
            np.concatenate([wifi.times_s, CHANGE_AT_S + lte.times_s]),
            np.concatenate([wifi.rates_bps, lte.rates_bps]),
            duration_s,
        ),
        f"change-{seed}",
        one_way_delay_ms=DelayOverTime(
            times_s=[0.0, CHANGE_AT_S], values_ms=[round(rng.uniform(20, 30), 2), round(rng.uniform(35, 50), 2)]
        ),
        queue=_TEST_BUFFER,
        provenance=_provenance("section III-F"),
    )


def _filled(trace: CapacityTrace, name: str, **path: Any) -> Scenario:
    """The path of a trace, whose media take all that it carries."""
    return with_media(scenario_from_capacity(trace, name, **path), "filler")


def _test_scenario(
    rng: np.random.Generator, trace: CapacityTrace, name: str, largest_delay_ms: float, loss_ratio: float | None
) -> Scenario:
    return _filled(
        trace,
        name,
        one_way_delay_ms=round(rng.uniform(20.0, largest_delay_ms), 2),
        queue=_TEST_BUFFER,
        loss_ratio=loss_ratio,
        provenance=_provenance("Table III"),
    )


def _training_wifi(rng: np.random.Generator, duration_s: float) -> CapacityTrace:
    exponent = rng.uniform(*_PATH_LOSS_EXPONENTS)
    return wifi_mobility(
        rng,
        duration_s,
        log_uniform(rng, 2e6, 40e6),
        path_loss_exponent=exponent,
        shadowing_db=rng.uniform(0, 20),
        distance_m=min(rng.uniform(1, 500), reach_m(exponent)),
        speed_mps=rng.uniform(0, 10),
    )


def reach_m(path_loss_exponent: float) -> float:
    """How far from the access point the slowest scheme is usable without shadowing, m."""
    return float(10 ** ((SNR_AT_1_M_DB - MCS_MINIMUM_SNR_DB[0]) / (10 * path_loss_exponent)))


def _rng(stream: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([2022, _STREAMS[stream], seed])


def _provenance(table: str) -> dict[str, str]:
    return {"source": f"Muses, {table}", "licence": "BSD-3-Clause"}
