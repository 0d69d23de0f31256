"""Agents in the form of the public ones for OpenNetLab's gym: tabular, a network in torch, a heuristic.

They import `alphartc_gym` alone; examples/opennetlab has it.
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "opennetlab"
STEP_MS = 200
LOWEST_BPS, HIGHEST_BPS = 80_000, 8_000_000
LEVELS_BPS = [int(rate_bps) for rate_bps in np.geomspace(LOWEST_BPS, HIGHEST_BPS, 12)]

pytestmark = pytest.mark.usefixtures("real_simulator")


@pytest.fixture(autouse=True)
def alphartc_gym(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in ("alphartc_gym", "BandwidthEstimator")]:
        del sys.modules[name]


@pytest.fixture
def traces(tmp_path):
    """Paths of two traces in OpenNetLab's format: steady, lossy."""
    patterns = {
        "steady": [{"duration": 12_000, "capacity": 1500, "rtt": 80}],
        "lossy": [{"duration": 12_000, "capacity": 1000, "loss": 0.02, "rtt": 80}],
    }
    for name, pattern in patterns.items():
        text = json.dumps({"type": "video", "downlink": {}, "uplink": {"trace_pattern": pattern}})
        (tmp_path / f"{name}.json").write_text(text)
    return [str(tmp_path / f"{name}.json") for name in patterns]


class GymEnvironment:
    """The loop that public agents have around the gym: four numbers as the state, a reward of rate, delay and loss."""

    def __init__(self, traces):
        import alphartc_gym
        from alphartc_gym.utils.packet_record import PacketRecord

        self.traces = traces
        self.gym = alphartc_gym.Gym()
        self.record = PacketRecord()

    def reset(self, trace=None):
        self.gym.reset(trace_path=trace or random.choice(self.traces), report_interval_ms=STEP_MS, duration_time_ms=0)
        self.record.reset()
        return (0.0, 0.0, 0.0, 0.0)

    def step(self, rate_bps):
        from alphartc_gym.utils.packet_info import PacketInfo

        packets, done = self.gym.step(rate_bps)
        for packet in packets:
            info = PacketInfo()
            info.payload_type = packet["payload_type"]
            info.ssrc = packet["ssrc"]
            info.sequence_number = packet["sequence_number"]
            info.send_timestamp = packet["send_time_ms"]
            info.receive_timestamp = packet["arrival_time_ms"]
            info.padding_length = packet["padding_length"]
            info.header_length = packet["header_length"]
            info.payload_size = packet["payload_size"]
            info.bandwidth_prediction = rate_bps
            self.record.on_receive(info)
        received_bps = self.record.calculate_receiving_rate(interval=STEP_MS)
        delay_ms = self.record.calculate_average_delay(interval=STEP_MS)
        loss = self.record.calculate_loss_ratio(interval=STEP_MS)
        latest_bps = self.record.calculate_latest_prediction()
        state = (log_share(received_bps), min(max(delay_ms, 0) / 1000, 1), loss, log_share(latest_bps))
        return state, state[0] - 2 * state[1] - state[2], done


def log_share(rate_bps):
    """0 for the lowest rate, 1 for the highest."""
    return float(np.log(max(rate_bps, LOWEST_BPS) / LOWEST_BPS) / np.log(HIGHEST_BPS / LOWEST_BPS))


def moved(level, move):
    """The level after a move: 0 down, 1 stay, 2 up."""
    return min(max(level + move - 1, 0), len(LEVELS_BPS) - 1)


def mean_reward(environment, decide, trace):
    """The mean reward over a trace of a policy, a function of state and level to the next level."""
    state, level, rewards, done = environment.reset(trace), 3, [], False
    while not done:
        level = decide(state, level)
        state, reward, done = environment.step(LEVELS_BPS[level])
        rewards.append(reward)
    return float(np.mean(rewards[15:]))


def check_learned(environment, decide, traces):
    """The policy is better than each fixed level but those next to the capacity."""
    for trace in traces:
        learned = mean_reward(environment, decide, trace)
        fixed = [mean_reward(environment, lambda state, _, level=level: level, trace) for level in (0, 3, 8, 11)]
        assert learned > max(fixed) + 0.05, (trace, learned, fixed)


def test_a_tabular_agent_learns(traces):
    random.seed(1)
    environment = GymEnvironment(traces)
    values = np.zeros((len(LEVELS_BPS), 3, 3))

    def row(state, level):
        return values[level, int(np.digitize(state[1], (0.02, 0.1)))]

    for episode in range(60):
        state, level, done = environment.reset(), 3, False
        while not done:
            action_values = row(state, level)
            explores = random.random() < max(0.1, 1 - episode / 45)
            move = random.randrange(3) if explores else int(action_values.argmax())
            level = moved(level, move)
            state, reward, done = environment.step(LEVELS_BPS[level])
            action_values[move] += 0.2 * (reward + 0.8 * row(state, level).max() - action_values[move])
    check_learned(environment, lambda state, level: moved(level, int(row(state, level).argmax())), traces)


def test_an_actor_critic_in_torch_learns(traces):
    torch = pytest.importorskip("torch", reason="needs weir-train[learning]")
    torch.set_num_threads(1)
    torch.manual_seed(2)
    environment = GymEnvironment(traces[:1])
    # Three logits of moves, and the value.
    network = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)

    def distribution(outputs):
        return torch.distributions.Categorical(logits=outputs[..., :3])

    def decide(state, level):
        with torch.no_grad():
            return moved(level, int(network(torch.tensor(state))[:3].argmax()))

    for _ in range(60):
        state, level, done = environment.reset(), 3, False
        while not done:
            states, moves, rewards = [], [], []
            while not done and len(states) < 10:
                with torch.no_grad():
                    move = int(distribution(network(torch.tensor(state))).sample())
                level = moved(level, move)
                states.append(state)
                moves.append(move)
                state, reward, done = environment.step(LEVELS_BPS[level])
                rewards.append(reward)
            with torch.no_grad():
                value = float(network(torch.tensor(state))[3])
            returns = []
            for reward in reversed(rewards):
                value = 0.1 * reward + 0.9 * value
                returns.insert(0, value)
            outputs = network(torch.tensor(states))
            advantages = torch.tensor(returns) - outputs[:, 3]
            chosen = distribution(outputs)
            gains = chosen.log_prob(torch.tensor(moves)) * advantages.detach()
            loss = 10 * (advantages.square() - gains).mean() - 0.02 * chosen.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    check_learned(environment, decide, traces[:1])


def test_a_heuristic_in_the_gym(traces):
    from BandwidthEstimator import Estimator, run

    for trace, capacity_bps in zip(traces, (1_500_000, 1_000_000), strict=True):
        packets = [packet for packet in run(trace) if packet["arrival_time_ms"] > 10_000]
        rate_bps = 8 * sum(packet["payload_size"] for packet in packets) / 50
        assert 0.6 < rate_bps / capacity_bps < 1
        assert np.median([packet["arrival_time_ms"] - packet["send_time_ms"] for packet in packets]) < 40 + 60
    # While nothing arrives.
    assert Estimator().get_estimated_bandwidth() < 300_000


def test_the_heuristic_as_a_program_and_in_replays(run_weir):
    program = FOLDER / "BandwidthEstimator.py"
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    command = [sys.executable, program, "catalogue/steady-1m"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert "kbps, one-way delay" in done.stdout
    status, _, errors = run_weir(
        "replay", "catalogue/steady-1m", "--controller", f"{program}:Estimator", "--out", "out"
    )
    assert status == 0, errors
    controllers = json.loads(Path("out/summary.json").read_text())["controllers"]
    assert controllers["BandwidthEstimator"]["utilisation"]["mean"] > 0.5


def test_statistics_of_packets():
    from alphartc_gym.utils.packet_info import PacketInfo
    from alphartc_gym.utils.packet_record import PacketRecord

    record = PacketRecord(base_delay_ms=100)
    assert (record.calculate_receiving_rate(), record.calculate_average_delay(), record.packet_num) == (0, 0, 0)
    assert (record.calculate_loss_ratio(), record.calculate_latest_prediction()) == (0, 0)
    # Number, arrival and one-way delay; the clocks are 5 s apart.
    for number, arrival_ms, delay_ms in ((65_534, 1000, 30), (65_535, 1010, 40), (2, 1100, 50), (1, 1110, 60)):
        info = PacketInfo(ssrc=7, sequence_number=number, payload_size=1000, bandwidth_prediction=10 * number)
        info.receive_timestamp, info.send_timestamp = arrival_ms, arrival_ms - delay_ms + 5000
        record.on_receive(info)
    assert record.calculate_average_delay() == pytest.approx(15)
    assert record.calculate_average_delay(interval=60) == pytest.approx(25)
    assert record.calculate_loss_ratio() == pytest.approx(2 / 6)
    assert record.calculate_receiving_rate() == pytest.approx(4 * 8000 / 0.110)
    assert record.calculate_receiving_rate(interval=60) == pytest.approx(2 * 8000 / 0.060)
    assert record.calculate_latest_prediction() == 10
    assert record.min_seen_delay == 100
    record.clear()
    assert record.packet_num == 0
    record.on_receive(PacketInfo(7, 3, 6120, 7, 0, 24, 1210, 500, 80))
    assert record.calculate_receiving_rate() == pytest.approx(500 * 8 / 0.1)
