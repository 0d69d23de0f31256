"""The exported graph: torch, ONNX Runtime and the library say the same, whatever the observation."""

import json

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("stable_baselines3", reason="needs the extra `train`")

import gymnasium  # noqa: E402
import onnxruntime  # noqa: E402

from weir import FEATURES, BandwidthEstimator, Model, Policy  # noqa: E402
from weir.trainer.gym import rule  # noqa: E402
from weir.trainer.gym.specification import (  # noqa: E402
    DEFAULT_FEATURES,
    ActionSpecification,
    EnvironmentSpecification,
)
from weir.trainer.model.export import export  # noqa: E402
from weir.trainer.model.file import parity  # noqa: E402
from weir.trainer.model.golden_inputs import golden_inputs  # noqa: E402
from weir.trainer.policies.networks import DeployedPolicy, PreferencePolicy  # noqa: E402
from weir.trainer.policies.off_policy import PreferenceFeatures, SacPreferencePolicy, Td3PreferencePolicy  # noqa: E402

SMALL = {"preference_size": 4, "hidden": (12, 8)}
WITHOUT_RULE = ("loss_ratio", "delay_gradient", "delay_ratio", "video_share")
CASES = [
    ("ppo", "around_rule", tuple(FEATURES)),
    ("ppo", "around_rule", DEFAULT_FEATURES),
    ("ppo", "relative", WITHOUT_RULE),
    ("ppo", "log_rate", DEFAULT_FEATURES),
    ("td3", "around_rule", DEFAULT_FEATURES),
    ("td3", "log_rate", WITHOUT_RULE),
    ("sac", "around_rule", tuple(FEATURES)),
    ("sac", "relative", DEFAULT_FEATURES),
]


def make(algorithm, kind, features):
    """A policy with random parameters, large enough that its actions spread, and its specification."""
    torch.manual_seed(5)
    specification = EnvironmentSpecification(
        100, features, 4, ActionSpecification(kind, min_bps=1000.0), privileged=True
    )
    low, high = specification.observation_limits()
    spaces = gymnasium.spaces.Box(low, high, dtype=np.float32), gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    if algorithm == "ppo":
        policy = PreferencePolicy(*spaces, lambda remaining: 0.0, specification=specification, **SMALL)
    else:
        policy = {"td3": Td3PreferencePolicy, "sac": SacPreferencePolicy}[algorithm](
            *spaces,
            lambda remaining: 0.0,
            net_arch=list(SMALL["hidden"]),
            features_extractor_class=PreferenceFeatures,
            features_extractor_kwargs={
                "specification": specification,
                "preference_size": SMALL["preference_size"],
            },
        )
    with torch.no_grad():
        for parameter in DeployedPolicy(policy, specification).parameters():
            parameter.normal_(0.0, 0.5)
    return policy, specification


def observations(specification):
    """Ordinary, random, and extreme ones, (N, D): zeros, 1e9 everywhere, limits, no packets, both sides of the rule's
    threshold.
    """
    generator = np.random.default_rng(7)
    ordinary = golden_inputs(specification)[0]
    low, high = (limit[: specification.observation_size] for limit in specification.observation_limits())
    random = np.concatenate([ordinary * generator.uniform(0.0, 2.0, ordinary.shape) for _ in range(20)])
    corners = np.where(generator.random((20, len(low))) < 0.5, low, high)
    silent, standing = ordinary.copy(), ordinary.copy()
    names = specification.observed
    if "packets_received" in names:
        silent[:, names.index("packets_received")] = 0.0
    if "queueing_delay_min_s" in names:
        threshold = np.float32(rule.QUEUE_THRESHOLD_S)
        towards = np.array([0.0, 1.0] * 3, dtype=np.float32)
        standing[:, names.index("queueing_delay_min_s")] = np.nextafter(threshold, towards)
        standing[-1, names.index("queueing_delay_min_s")] = threshold
    extremes = [np.zeros((1, len(low))), np.full((1, len(low)), 1e9), low[None], high[None]]
    return np.concatenate([ordinary, random, corners, silent, standing, *extremes]).astype(np.float32)


@pytest.mark.parametrize(("algorithm", "kind", "features"), CASES)
def test_torch_onnx_runtime_and_the_library_agree(tmp_path, algorithm, kind, features):
    policy, specification = make(algorithm, kind, features)
    model = export(policy, specification, tmp_path / "a.onnx")
    export(policy, specification, tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    assert parity(model.SerializeToString()) <= 1.0
    rows = observations(specification)
    objectives = np.random.default_rng(1).dirichlet([1.0] * 3, len(rows)).astype(np.float32)
    with torch.no_grad():
        expected = DeployedPolicy(policy, specification)(torch.from_numpy(rows), torch.from_numpy(objectives)).numpy()
    assert np.ptp(expected) > 0.1
    # The policy's own answer, without noise, whatever only its critic sees.
    for privileged in (np.zeros((len(rows), 5)), np.full((len(rows), 5), 1e6)):
        whole = np.concatenate([rows, objectives, privileged], axis=1).astype(np.float32)
        actions, _ = policy.predict(whole, deterministic=True)
        np.testing.assert_allclose(specification.wire_actions(actions, rows), expected[:, 0], rtol=1e-4, atol=1e-4)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = [
        {"observation": row[None], "objective": weights[None]} for row, weights in zip(rows, objectives, strict=True)
    ]
    found = np.concatenate([session.run(["action"], values)[0] for values in inputs])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    library = Policy((tmp_path / "a.onnx").read_bytes())
    assert not library.needs_onnxruntime
    answers = [
        library.run(row.tolist(), tuple(weights.tolist())) for row, weights in zip(rows, objectives, strict=True)
    ]
    np.testing.assert_allclose(np.array(answers), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("algorithm", ["ppo", "td3", "sac"])
def test_the_critic_sees_what_the_actor_does_not(algorithm):
    policy, specification = make(algorithm, "around_rule", DEFAULT_FEATURES)
    history, objectives = golden_inputs(specification)
    values = []
    for truth in (2e6, 6e6):
        whole = np.concatenate([history, objectives, np.full((len(history), 5), truth)], axis=1).astype(np.float32)
        with torch.no_grad():
            inputs = torch.from_numpy(whole)
            values.append(
                policy.predict_values(inputs)
                if algorithm == "ppo"
                else policy.critic(inputs, torch.zeros(len(whole), 1))[0]
            )
    assert not torch.equal(*values)


def test_parameters_keep_names_and_values(tmp_path):
    policy, specification = make("ppo", "around_rule", DEFAULT_FEATURES)
    model = export(policy, specification, tmp_path / "a.onnx", provenance={"note": "kept"})
    found = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for name, value in DeployedPolicy(policy, specification).named_parameters():
        np.testing.assert_array_equal(found[name], value.detach().numpy())
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(metadata["weir.provenance"]) == {"note": "kept"}


def test_a_policy_that_adds_nothing_decides_as_the_controller_rule(tmp_path):
    """The rule stands in C++ and in `gym/rule.py`, from which graphs are made: the same packets, the same targets."""
    policy, specification = make("ppo", "around_rule", DEFAULT_FEATURES)
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
