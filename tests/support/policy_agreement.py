"""Torch, ONNX Runtime and the library on one policy, whatever the observation."""

import gymnasium
import numpy as np
import onnxruntime
import torch

from weir import RULE, Policy
from weir_train.gym.specification import ActionSpecification, EnvironmentSpecification
from weir_train.model.export import export
from weir_train.model.file import parity
from weir_train.model.golden_inputs import golden_inputs
from weir_train.policies.networks import DeployedPolicy


def random_policy(make, kind, features):
    """A policy with random parameters, large enough that its actions spread, and its specification; `make` gives one of
    spaces, a schedule and the specification.
    """
    torch.manual_seed(5)
    specification = EnvironmentSpecification(
        100, features, 4, ActionSpecification(kind, min_bps=1000.0), privileged=True
    )
    low, high = specification.observation_limits()
    spaces = gymnasium.spaces.Box(low, high, dtype=np.float32), gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    policy = make(*spaces, lambda remaining: 0.0, specification)
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
        threshold = np.float32(RULE["queue_threshold_s"])
        towards = np.array([0.0, 1.0] * 3, dtype=np.float32)
        standing[:, names.index("queueing_delay_min_s")] = np.nextafter(threshold, towards)
        standing[-1, names.index("queueing_delay_min_s")] = threshold
    extremes = [np.zeros((1, len(low))), np.full((1, len(low)), 1e9), low[None], high[None]]
    return np.concatenate([ordinary, random, corners, silent, standing, *extremes]).astype(np.float32)


def check_agreement(policy, specification, tmp_path):
    """All give the policy's own answer, and the same policy the same file."""
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


def with_truths(specification, truths):
    """Observations that differ in what only a critic sees: for each truth (N, width)."""
    history, objectives = golden_inputs(specification)
    for truth in truths:
        whole = np.concatenate([history, objectives, np.full((len(history), 5), truth)], axis=1)
        yield torch.from_numpy(whole.astype(np.float32))
