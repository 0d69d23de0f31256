"""The model in the repository: it loads everywhere, decides the same everywhere, and is no worse than its floor."""

import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest

import weir
from weir_eval.model_file import read_model
from weir_traces.schema.scenario import Scenario
from weir_train.model.card import model_card
from weir_train.model.file import parity

MODEL = weir.shipped_model_path()


def scenario(name, times_s, rates_bps, duration_s):
    return {
        "schema": "weir.scenario/1",
        "name": name,
        "duration_s": duration_s,
        "forward": {"capacity": {"times_s": times_s, "rates_bps": rates_bps}},
        "flows": [{"kind": "rtp", "id": "media"}],
    }


@pytest.fixture(scope="module")
def replay(real_simulator):
    """A function that runs a scenario under the shipped model: the media flow's record."""

    def run(document, objective=(0.4, 0.5, 0.1)):
        job = {
            "job": 0,
            "scenario": Scenario.from_dict(document).to_dict(),
            "controller": "weir",
            "model": str(MODEL),
            "objective": objective,
        }
        job |= {"seed": 1, "series": True}
        done = subprocess.run(
            [real_simulator, "run", "-"], input=json.dumps(job) + "\n", capture_output=True, text=True, check=True
        )
        record = json.loads(done.stdout)
        assert "error" not in record, record
        return record["flows"][0]

    return run


def utilisation(flow):
    return flow["bytes_received"] / flow["achievable_bytes"]


def queueing_p95_ms(flow):
    return flow["one_way_delay_ms"]["p95"] - flow["base_one_way_delay_ms"]


def test_file_and_card():
    model = read_model(MODEL)
    assert model.golden_vectors >= 3
    assert model.bytes < 1_000_000
    assert model.outputs == {"action": [1, 1]}
    # ONNX Runtime spends 0.2 us on a node; a graph traced from torch had 237.
    assert len(onnx.load(MODEL).graph.node) <= 35
    random_operators = {node.op_type for node in onnx.load(MODEL).graph.node if "Random" in node.op_type}
    assert not random_operators
    card = (Path(__file__).parents[2] / "estimator/models/weir.md").read_text()
    # The card is the generated one, of this file.
    assert card.startswith(model_card(model).split("## Results")[0])


def test_onnx_runtime_agrees_with_the_golden_vectors():
    pytest.importorskip("onnxruntime", reason="needs weir-train[learning]")
    assert parity(MODEL.read_bytes()) <= 1.0


@pytest.mark.parametrize("rate_bps", [300_000, 1_000_000, 2_500_000, 8_000_000, 30_000_000])
def test_steady_links_are_filled_without_a_standing_queue(replay, rate_bps):
    flow = replay(scenario("steady", [0.0], [rate_bps], 30.0))
    # At 300 kbps the sender's first probes overflow the queue, and the rate falls. Its packets are small then, so that
    # larger ones seem to wait for as long as the base delay is remembered, 30 s.
    least, most_lost = (0.7, 0.015) if rate_bps == 300_000 else (0.85, 0.01)
    assert least <= utilisation(flow) <= 1.001
    packet_ms = 1228 * 8 / rate_bps * 1000
    assert 0.0 <= queueing_p95_ms(flow) <= 80.0 + packet_ms
    assert flow["packets_lost"] / flow["packets_sent"] <= most_lost
    assert flow["estimator"]["faults"] == 0


def test_a_halved_link_is_left_and_a_doubled_one_taken(replay):
    flow = replay(scenario("steps", [0.0, 20.0, 40.0], [4e6, 2e6, 4e6], 60.0))
    received = np.array(flow["series"]["receive_rate_bps"])
    delay_ms = np.array([np.nan if value is None else value for value in flow["series"]["one_way_delay_mean_ms"]])
    # Series are of 100 ms. Two seconds after the halving the queue is gone; four seconds after the doubling it is used.
    assert 25.0 <= np.nanmean(delay_ms[220:390]) <= 85.0
    assert 1.7e6 <= received[220:390].mean() <= 2.05e6
    assert 3.3e6 <= received[440:590].mean() <= 4.1e6


def test_the_objective_steers(replay):
    document = scenario("sawtooth", [float(t) for t in range(60)], [2e6, 1e6, 3e6, 1.5e6] * 15, 60.0)
    eager = replay(document, (0.8, 0.1, 0.1))
    careful = replay(document, (0.1, 0.8, 0.1))
    assert utilisation(eager) > utilisation(careful)
    assert queueing_p95_ms(eager) > queueing_p95_ms(careful)
