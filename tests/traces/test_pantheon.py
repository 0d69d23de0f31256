"""Pantheon's emulators: as published, and reachable by their names."""

import numpy as np
import pytest

from weir_traces.catalogue import load_bundled
from weir_traces.generate.pantheon import DURATION_S
from weir_traces.schema.scenario import RtpFlow

# Number, Mbps, one-way delay in ms, loss in percent, queue; after experiments.yml of StanfordSNR/observatory.
PUBLISHED = [
    (1, 0.57, 28, 4.77, {"packets": 14}),
    (2, 2.64, 88, 0, {"packets": 130}),
    (3, 3.04, 130, 0, {"packets": 426}),
    (4, 100.42, 27, 0, {"packets": 173}),
    (5, 77.72, 51, 0.06, {"packets": 94}),
    (6, 114.68, 45, 0, {"packets": 450}),
    (7, 12, 10, 0, {"packets": 1}),
    (8, 60, 10, 0, {"packets": 1}),
    (9, 108, 10, 0, {"packets": 1}),
    (10, 12, 50, 0, {"packets": 1}),
    (11, 60, 50, 0, {"packets": 1}),
    (12, 108, 50, 0, {"packets": 1}),
    (13, 12, 10, 0, {"milliseconds": 1e3 * DURATION_S}),
    (14, 12, 10, 0, {"milliseconds": 1e3 * DURATION_S}),
    (15, 12, 30, 0, {"bytes": 9_000}),
    (16, 12, 30, 0, {"bytes": 30_000}),
    (17, 12, 30, 0, {"bytes": 45_000}),
    (18, 12, 30, 0, {"bytes": 90_000}),
]


@pytest.mark.parametrize(("number", "mbps", "delay_ms", "loss_percent", "queue"), PUBLISHED)
def test_an_emulator_is_as_published(
    number: int, mbps: float, delay_ms: float, loss_percent: float, queue: dict[str, float]
) -> None:
    scenario = load_bundled(f"pantheon-{number}")
    forward, reverse = scenario.forward, scenario.reverse
    assert scenario.duration_s == DURATION_S
    assert forward.mean_capacity_bps(DURATION_S) == pytest.approx(1e6 * mbps, rel=1e-6)
    assert (forward.one_way_delay_ms, reverse.one_way_delay_ms) == (delay_ms, delay_ms)
    assert 100 * getattr(forward.loss, "ratio", 0.0) == pytest.approx(loss_percent)
    assert reverse.loss.kind == "none"
    assert forward.queue.model_dump() == queue
    assert reverse.queue.model_dump() == (queue if queue == {"packets": 1} else {"milliseconds": 1e3 * DURATION_S})
    # ACKs are aggregated by the return path, which else is as fast as the other.
    slots = {13: (0.12, 100.0), 14: (0.6, 200.0)}
    back_mbps, slot_ms = slots.get(number, (mbps, None))
    assert reverse.mean_capacity_bps(DURATION_S) == pytest.approx(1e6 * back_mbps)
    assert getattr(reverse.jitter, "interval_ms", None) == slot_ms
    (flow,) = scenario.flows
    assert isinstance(flow, RtpFlow)
    assert flow.media.kind == "filler"
    assert flow.media.max_rate_bps > 1e6 * mbps


@pytest.mark.parametrize("number", [1, 2, 3])
def test_deliveries_are_a_poisson_process(number: int) -> None:
    capacity = load_bundled(f"pantheon-{number}").forward.capacity
    assert capacity is not None
    slot_s = 0.02
    deliveries = np.array(capacity.rates_bps) * slot_s / 12_000
    assert np.diff(capacity.times_s) == pytest.approx(slot_s)
    # Variance and mean of a Poisson variable are equal; of 1500 samples, to a tenth or so.
    assert np.var(deliveries) / np.mean(deliveries) == pytest.approx(1.0, abs=0.15)


def test_buffers_are_shares_of_the_bandwidth_delay_product() -> None:
    scenarios = [load_bundled(f"pantheon-{number}") for number in range(15, 19)]
    bdp_bytes = 12e6 * 0.06 / 8
    shares = [(scenario.forward.queue_bytes(DURATION_S) or 0) / bdp_bytes for scenario in scenarios]
    assert shares == pytest.approx([1 / 10, 1 / 3, 1 / 2, 1])
