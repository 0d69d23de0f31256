"""Fine-tuning on made-up calls whose better actions are known, and the command."""

import dataclasses

import numpy as np
import pytest

from weir.errors import InputError
from weir.trainer.offline.reader import Trajectory, with_history
from weir.trainer.offline.transitions import names
from weir.trainer.offline.writer import write_data_set

pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("stable_baselines3", reason="needs the extra `train`")


@pytest.fixture
def start(configuration):
    """An untrained policy."""
    import torch

    from weir.trainer.learning.algorithms import make_policy
    from weir.trainer.learning.starting_point import StartingPoint

    torch.manual_seed(1)
    parameters = make_policy(configuration).state_dict()
    return StartingPoint(configuration, parameters, True, ("balanced",), {"algorithm": "PPO"})


@pytest.fixture
def make_trajectories(start, specification, make_call):
    """A function that makes calls: the policy's actions with noise, and what `reward` gives for that noise."""
    from weir.trainer.learning.starting_point import policy_of
    from weir.trainer.policies.networks import DeployedPolicy

    def make(reward, sigma=0.1, count=8, **constant):
        import torch

        deployed = DeployedPolicy(policy_of(start), specification)
        found = []
        for seed in range(count):
            call = make_call(str(seed), 121, seed)
            for name, value in constant.items():
                call.newest[:, names(specification.features).index(name)] = value
            rows = np.column_stack([call.newest, call.objectives]).astype(np.float32)
            whole = with_history(rows, call.resets, specification)
            observation, objective = (torch.from_numpy(part) for part in np.split(whole, [-3], axis=1))
            with torch.no_grad():
                own = deployed(observation, objective)[:-1, 0].numpy()
            noise = sigma * np.random.default_rng(seed).standard_normal(120)
            rates = (own * 3.0**noise).astype(np.float32)
            found.append(Trajectory(whole, rates, reward(noise, rows[:-1]).astype(np.float32), np.ones(120, bool)))
        return found

    return make


def mean_change(start, found, trajectories, specification):
    """The mean change of actions in the states of calls."""
    import torch

    from weir.trainer.learning.starting_point import policy_of
    from weir.trainer.policies.networks import DeployedPolicy

    whole = torch.from_numpy(np.concatenate([one.observations for one in trajectories]))
    parts = whole[:, :-3], whole[:, -3:]
    with torch.no_grad():
        old = DeployedPolicy(policy_of(start), specification)(*parts)
        new = DeployedPolicy(found.policy, found.configuration.environment.specification())(*parts)
    return float(torch.log(new / old).mean() / np.log(3.0))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_policy_moves_to_the_better_actions(start, make_trajectories, specification, sign):
    from weir.trainer.offline.finetune import finetune

    trajectories = make_trajectories(lambda noise, rows: sign * noise)
    found = finetune(start, trajectories)
    assert 0.01 < sign * mean_change(start, found, trajectories, specification) < 0.2
    assert found.estimate.low > 0.0
    assert found.estimate.difference == pytest.approx(
        sign * mean_change(start, found, trajectories, specification), rel=0.3
    )
    assert (found.calls, found.steps) == (8, 960)


def test_it_learns_where_more_is_better(start, make_trajectories, specification):
    """In states with a long queue lower actions are better, else higher ones."""
    import torch

    from weir.trainer.offline.finetune import finetune

    column = names(specification.features).index("queueing_delay_max_s")
    trajectories = make_trajectories(lambda noise, rows: noise * np.sign(0.12 - rows[:, column]))
    found = finetune(start, trajectories)
    rows = np.concatenate([one.observations for one in trajectories])
    queue = rows[:, column]
    short, long = (
        mean_change(start, found, [dataclasses.replace(trajectories[0], observations=rows[mask])], specification)
        for mask in (queue < 0.09, queue > 0.16)
    )
    assert short > 0.005
    assert long < -0.005
    assert torch.isfinite(found.policy.action_net.weight).all()


def test_rewards_without_a_pattern_move_little(start, make_trajectories, specification):
    from weir.trainer.offline.finetune import finetune

    noisy = np.random.default_rng(5)
    trajectories = make_trajectories(lambda noise, rows: noisy.standard_normal(len(noise)))
    found = finetune(start, trajectories)
    assert abs(mean_change(start, found, trajectories, specification)) < 0.02
    assert found.estimate.low < 0.0 < found.estimate.high


def test_what_cannot_be_learned_from_is_refused(start, make_trajectories):
    from weir.trainer.offline.finetune import finetune

    with pytest.raises(InputError, match=r"3 calls with 360 decisions of the policy are too few"):
        finetune(start, make_trajectories(lambda noise, rows: noise, count=3))
    with pytest.raises(InputError, match=r"recorded actions are the model's own"):
        finetune(start, make_trajectories(lambda noise, rows: noise, sigma=0.0))
    # At the lowest rate, too, where the rate does not tell the action.
    stuck = {"last_estimate_bps": 3e4, "receive_rate_bps": 0.0, "packets_received": 0.0}
    with pytest.raises(InputError, match=r"recorded actions are the model's own"):
        finetune(start, make_trajectories(lambda noise, rows: noise, sigma=0.0, **stuck))


def test_the_command_makes_a_folder_that_is_exported(start, model, make_call, tmp_path, weir):
    import onnx

    from weir.trainer.learning.starting_point import policy_of
    from weir.trainer.model.export import export

    provenance = start.provenance | {
        "action": start.configuration.environment.action.model_dump(),
        "network": {"hidden": [16, 8], "preference": 4},
        "objectives": "random",
        "reward": "challenge",
    }
    file = tmp_path / "small.onnx"
    specification = start.configuration.environment.specification()
    export(policy_of(start), specification, file, name="small", version="1", provenance=provenance)
    write_data_set(tmp_path / "data", model, 0.1, [make_call(str(seed), 150, seed) for seed in range(5)])
    command = ("finetune", file, tmp_path / "data", "--out", tmp_path / "tuned")
    said = weir(*command).output
    assert "experimental, from 735 decisions of 5 calls" in said
    assert "95 % of resamples" in said
    weir("export", tmp_path / "tuned", "--out", tmp_path / "tuned.onnx")
    metadata = {entry.key: entry.value for entry in onnx.load(tmp_path / "tuned.onnx").metadata_props}
    assert "experimental" in metadata["weir.provenance"]
    assert metadata["weir.version"].endswith("+experimental")
    assert "- experimental: fine-tuned offline" in (tmp_path / "tuned.md").read_text()
    before = (tmp_path / "tuned/checkpoint.zip").read_bytes()
    with pytest.raises(InputError, match="is not an empty folder"):
        weir(*command)
    assert (tmp_path / "tuned/checkpoint.zip").read_bytes() == before
    with pytest.raises(InputError, match="no such file"):
        weir("finetune", file, tmp_path / "nowhere", "--out", tmp_path / "else")
    assert not (tmp_path / "else").exists()
