import pytest

from weir.qoe_eval.experiments.carriable_rate import carriable_bps
from weir.traces.schema.scenario import Scenario

RTP = {"kind": "rtp", "media": {"kind": "video", "max_rate_bps": 5e6}}


def scenario(forward, *others):
    return Scenario.make(
        name="path",
        description="a path",
        provenance={"source": "test", "licence": "BSD-3-Clause"},
        duration_s=10.0,
        forward=forward,
        flows=[RTP, *others],
    )


def test_capacity_less_cross_traffic_within_the_encoders_bound():
    steps = {"capacity": {"times_s": [0.0, 4.0], "rates_bps": [1e6, 4e6]}, "one_way_delay_ms": 10.0}
    assert carriable_bps(scenario(steps), 3e6) == pytest.approx(0.4 * 1e6 + 0.6 * 3e6)
    cross = {"kind": "cbr", "rate_bps": 2e6, "start_s": 2.0, "stop_s": 6.0}
    # 1 Mbps for 2 s, nothing for 2 s, 2 Mbps for 2 s, 3 Mbps for 4 s.
    assert carriable_bps(scenario(steps, cross), 3e6) == pytest.approx(0.2 * 1e6 + 0.2 * 2e6 + 0.4 * 3e6)


def test_a_path_without_a_bottleneck_carries_what_the_encoder_makes():
    assert carriable_bps(scenario({"capacity": None, "one_way_delay_ms": 10.0}), 3e6) == pytest.approx(3e6)
