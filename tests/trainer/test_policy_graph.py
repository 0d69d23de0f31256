"""The exported graph: torch, ONNX Runtime and the library say the same, whatever the observation."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from policy_agreement import check_agreement, random_policy, with_truths  # noqa: E402

from weir import FEATURES, RULE, BandwidthEstimator, Model  # noqa: E402
from weir_train.gym import rule  # noqa: E402
from weir_train.gym.specification import DEFAULT_FEATURES, EnvironmentSpecification  # noqa: E402
from weir_train.model.export import export  # noqa: E402
from weir_train.model.graph_builder import GraphBuilder  # noqa: E402
from weir_train.model.policy_graph import scaled_nodes  # noqa: E402
from weir_train.policies.networks import DeployedPolicy, PreferencePolicy  # noqa: E402

SMALL = {"preference_size": 4, "hidden": (12, 8)}
WITHOUT_RULE = ("loss_ratio", "delay_gradient", "delay_ratio", "video_share")
CASES = [
    ("around_rule", tuple(FEATURES)),
    ("around_rule", DEFAULT_FEATURES),
    ("relative", WITHOUT_RULE),
    ("log_rate", DEFAULT_FEATURES),
]


def make(kind, features):
    return random_policy(
        lambda *arguments: PreferencePolicy(*arguments[:3], specification=arguments[3], **SMALL), kind, features
    )


@pytest.mark.parametrize(("kind", "features"), CASES)
def test_torch_onnx_runtime_and_the_library_agree(tmp_path, kind, features):
    check_agreement(*make(kind, features), tmp_path)


def test_the_critic_sees_what_the_actor_does_not():
    policy, specification = make("around_rule", DEFAULT_FEATURES)
    with torch.no_grad():
        values = [policy.predict_values(inputs) for inputs in with_truths(specification, (2e6, 6e6))]
    assert not torch.equal(*values)


def test_parameters_keep_names_and_values(tmp_path):
    policy, specification = make("around_rule", DEFAULT_FEATURES)
    model = export(policy, specification, tmp_path / "a.onnx", provenance={"note": "kept"})
    found = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for name, value in DeployedPolicy(policy, specification).named_parameters():
        np.testing.assert_array_equal(found[name], value.detach().numpy())
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(metadata["weir.provenance"]) == {"note": "kept"}


def random_observations(specification, count):
    """Observations (N, D) with rates above 4 bps, and delays on both sides of the rule's threshold."""
    generator = np.random.default_rng(11)
    rows = np.zeros((count, specification.observation_size), dtype=np.float32)
    shape = count, specification.history
    below, above = generator.uniform(0.0, 0.015, shape), 0.0075 + np.exp(generator.uniform(-7.0, 3.0, shape))
    values = {
        rule.RATE: np.exp(generator.uniform(1.5, 22.0, shape)),
        rule.QUEUE: np.where(generator.random(shape) < 0.5, below, above),
        rule.RECEIVED: generator.integers(0, 3, shape),
        rule.TARGET: np.exp(generator.uniform(1.5, 22.0, shape)),
    }
    for name, columns in values.items():
        rows[:, specification.columns[name]] = columns
    threshold = np.float32(RULE["queue_threshold_s"])
    rows[:9, specification.columns[rule.QUEUE]] = np.nextafter(threshold, np.float32([[0.0], [1.0], [threshold]] * 3))
    return rows


@pytest.mark.parametrize(("interval_ms", "history"), [(100, 8), (60, 4), (400, 1)])
def test_the_graph_of_the_rule_computes_the_rule_of_the_library(interval_ms, history):
    specification = EnvironmentSpecification(interval_ms, DEFAULT_FEATURES, history)
    graph = GraphBuilder()
    _, log_rule = scaled_nodes(graph, specification)
    model = graph.model({"observation": specification.observation_size}, {"log_rule": (log_rule, 1)})
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    rows = random_observations(specification, 2000)
    found = np.exp([session.run(None, {"observation": row[None]})[0][0, 0] for row in rows])
    expected = specification.rule_bps(np, rows)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    np.testing.assert_allclose(specification.rule_bps(torch, torch.from_numpy(rows)).numpy(), expected, rtol=1e-6)


def test_a_policy_that_adds_nothing_decides_as_the_controller_rule(tmp_path):
    """The graph computes the rule by itself: the same packets, the same targets."""
    policy, specification = make("around_rule", DEFAULT_FEATURES)
    with torch.no_grad():
        for parameter in DeployedPolicy(policy, specification).parameters():
            parameter.zero_()
    export(policy, specification, tmp_path / "rule.onnx")
    graph = BandwidthEstimator(Model.load(tmp_path / "rule.onnx"), guard=False)
    controller = BandwidthEstimator("rule", guard=False)
    targets, number, now_us = [], 0, 10_000_000
    # Mbps, seconds, and the queueing delay: the rule rises, drains, holds while a queue is short, and rises again.
    for rate_mbps, seconds, queue_ms in ((1, 3, 0), (1, 1, 120), (1, 2, 60), (0.3, 1, 400), (2, 3, 0)):
        end_us = now_us + seconds * 1_000_000
        while now_us < end_us:
            now_us += round(1250 * 8 / rate_mbps)
            number += 1
            send_us = now_us - queue_ms * 1000
            for estimator in (graph, controller):
                while estimator.next_timeout_us <= now_us:
                    estimator.on_timeout(now_us)
                estimator.on_packet(
                    arrival_time_us=now_us, ssrc=7, sequence_number=number & 0xFFFF, payload_bytes=1238,
                    abs_send_time=(send_us * 262_144 // 1_000_000) & 0xFFFFFF,
                )  # fmt: skip
            targets.append([estimator.latest.target_rate_bps for estimator in (graph, controller)])
    found, expected = np.array(targets).T
    # The graph takes the mean of three receive rates, the controller the rate of the three together: where the rate
    # changes, they differ for 300 ms.
    differences = np.abs(found / expected - 1)
    assert differences.max() < 0.05
    assert (differences < 1e-4).mean() > 0.99
    assert expected.max() > 20 * expected.min()
