"""The shim of OpenNetLab's gym."""

import json

import pytest

from weir.errors import InputError
from weir.trainer.gym.opennetlab import Gym, opennetlab_scenario

FIELDS = {
    "send_time_ms",
    "arrival_time_ms",
    "payload_type",
    "sequence_number",
    "ssrc",
    "padding_length",
    "header_length",
    "payload_size",
}


@pytest.fixture
def trace(tmp_path):
    pattern = [{"duration": 1000, "capacity": 500, "loss": 0.0, "rtt": 60}, {"duration": 1000, "capacity": 900}]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"type": "video", "downlink": {}, "uplink": {"trace_pattern": pattern}}))
    return path


def test_faults_of_a_trace_are_repaired_with_a_warning(tmp_path):
    pattern = [{"duration": 500, "capacity": 1000}] * 20 + [{"duration": 500, "capacity": 9_000_000}]
    path = tmp_path / "spike.json"
    path.write_text(json.dumps({"uplink": {"trace_pattern": pattern}}))
    with pytest.warns(UserWarning, match=r"spike\.json: entry 20 .*cut to 1 Mbps"):
        scenario = opennetlab_scenario(path, 5000)
    assert max(scenario["forward"]["capacity"]["rates_bps"]) == 1_000_000


def test_an_agents_loop(real_simulator, trace):
    gym = Gym(simulator=real_simulator)
    gym.reset(trace_path=str(trace), report_interval_ms=200, duration_time_ms=3000)
    packets, steps, done = [], 0, False
    while not done:
        arrived, done = gym.step(400_000)
        packets += arrived
        steps += not done
    assert steps == 15
    assert gym.step(400_000) == ([], True)
    assert set(packets[0]) == FIELDS
    assert all(packet["arrival_time_ms"] - packet["send_time_ms"] >= 30 for packet in packets)
    assert [packet["arrival_time_ms"] for packet in packets] == sorted(packet["arrival_time_ms"] for packet in packets)
    assert {type(packet["sequence_number"]) for packet in packets} == {int}
    # About 400 kbps once the first rate has crossed the reverse link.
    later = [packet for packet in packets if packet["arrival_time_ms"] >= 1000]
    bits = 8 * sum(packet["payload_size"] + packet["header_length"] + packet["padding_length"] for packet in later)
    assert 0.8 * 400_000 < bits / 2.0 < 1.1 * 400_000
    gym.close()


def test_whole_trace_and_defaults(trace):
    scenario = opennetlab_scenario(trace, 0)
    assert scenario["duration_s"] == 2.0
    assert scenario["forward"]["one_way_delay_ms"] == 30.0
    assert scenario["forward"]["capacity"]["rates_bps"] == [500_000, 900_000]
    assert scenario["reverse"]["capacity"] == scenario["forward"]["capacity"]
    assert scenario["flows"][0]["media"]["max_rate_bps"] == 10_000_000
    scenario = opennetlab_scenario("", 3000)
    assert (scenario["duration_s"], scenario["forward"]["one_way_delay_ms"]) == (3.0, 100.0)
    assert scenario["forward"]["capacity"]["rates_bps"] == [3_000_000]


def test_use_before_reset_and_bad_trace(tmp_path, fake_simulator):
    gym = Gym("name", simulator=fake_simulator)
    assert gym.gym_id == "name"
    with pytest.raises(InputError, match="reset first"):
        gym.step(1)
    with pytest.raises(InputError, match=r"missing\.json"):
        gym.reset(trace_path=str(tmp_path / "missing.json"))


def test_fake_packets_and_end(fake_simulator, trace):
    gym = Gym(simulator=fake_simulator)
    gym.reset(trace_path=str(trace), report_interval_ms=500, duration_time_ms=1000)
    assert gym.step(10**12) == ([], False)
    assert gym.step(0) == ([], False)
    assert gym.step(1) == ([], True)
