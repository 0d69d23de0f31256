"""OpenNetLab's gym on Weir's simulator."""

import json
from itertools import pairwise

import numpy as np
import pytest

from weir_cli.errors import ComponentFailed, InputError, MissingComponent
from weir_sim.executables import find_virtual_call
from weir_traces.catalogue import load_bundled
from weir_traces.schema.scenario import Scenario
from weir_train.gym.opennetlab import Gym
from weir_train.gym.opennetlab_scenario import opennetlab_scenario

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
VIDEO, RETRANSMISSION = 126, 98


@pytest.fixture
def write_trace(tmp_path):
    """A function from entries to the path of an OpenNetLab trace with them."""

    def write(*pattern, name="trace.json"):
        path = tmp_path / name
        path.write_text(json.dumps({"type": "video", "downlink": {}, "uplink": {"trace_pattern": pattern}}))
        return path

    return write


@pytest.fixture
def trace(write_trace):
    return write_trace({"duration": 1000, "capacity": 500, "loss": 0.0, "rtt": 60}, {"duration": 1000, "capacity": 900})


@pytest.fixture
def run(real_simulator):
    """A function that runs at a constant rate and returns the packets."""

    def run_at(bandwidth_bps, seed=1, **arguments):
        gym = Gym(simulator=real_simulator, seed=seed)
        gym.reset(**arguments)
        found, done = [], False
        while not done:
            packets, done = gym.step(bandwidth_bps)
            found += packets
        gym.close()
        return found

    return run_at


def size(packet):
    return packet["payload_size"] + packet["header_length"] + packet["padding_length"]


def share_lost(packets):
    """The share of video that is missing between the first packet and the last."""
    numbers = np.unwrap([p["sequence_number"] for p in packets if p["payload_type"] == VIDEO], period=65_536)
    assert len(set(numbers)) == len(numbers)
    return 1 - len(numbers) / (numbers.max() - numbers.min() + 1)


def test_an_agents_loop(real_simulator, trace):
    gym = Gym(simulator=real_simulator)
    gym.reset(trace_path=str(trace), report_interval_ms=200, duration_time_ms=3000)
    steps, packets, done = [], [], False
    while not done:
        arrived, done = gym.step(400_000)
        steps += [] if done else [arrived]
        packets += arrived
    assert len(steps) == 15
    assert gym.step(400_000) == ([], True)
    assert set(packets[0]) == FIELDS
    for number, arrived in enumerate(steps):
        assert all(200 * number <= packet["arrival_time_ms"] <= 200 * (number + 1) for packet in arrived)
    assert all(packet["arrival_time_ms"] - packet["send_time_ms"] >= 30 for packet in packets)
    assert [packet["arrival_time_ms"] for packet in packets] == sorted(packet["arrival_time_ms"] for packet in packets)
    assert {type(value) for packet in packets for value in packet.values()} == {int}
    later = [packet for packet in packets if packet["arrival_time_ms"] >= 1000]
    assert 0.8 * 400_000 < 8 * sum(map(size, later)) / 2.0 < 1.1 * 400_000
    gym.close()


def test_a_rate_is_what_video_sends(run):
    for rate_bps in (300_000, 2_000_000):
        packets = run(rate_bps, trace_path="", duration_time_ms=20_000)
        assert {packet["payload_type"] for packet in packets} == {VIDEO}
        assert len({packet["ssrc"] for packet in packets}) == 1
        later = [packet for packet in packets if packet["send_time_ms"] >= 5_000]
        span_s = (later[-1]["send_time_ms"] - later[0]["send_time_ms"]) / 1000
        assert 8 * sum(map(size, later)) / span_s == pytest.approx(rate_bps, rel=0.05)
        assert max(packet["arrival_time_ms"] - packet["send_time_ms"] for packet in later) < 200


def test_agents_may_filter_another_payload_type_of_video(real_simulator, write_trace):
    gym = Gym(simulator=real_simulator, video_payload_type=125)
    gym.reset(write_trace({"duration": 10_000, "capacity": 3000, "loss": 0.1, "rtt": 60}), 1000, 10_000)
    types, done = set(), False
    while not done:
        packets, done = gym.step(1_000_000)
        types |= {packet["payload_type"] for packet in packets}
    gym.close()
    assert types == {125, RETRANSMISSION}
    with pytest.raises(InputError, match="video_payload_type 128: give a whole number, 0 to 127"):
        Gym(video_payload_type=128)


def test_the_first_rate_is_that_of_the_beginning(run):
    for rate_bps in (100_000, 2_000_000):
        packets = [packet for packet in run(rate_bps, trace_path="") if packet["send_time_ms"] < 1000]
        assert 8 * sum(map(size, packets)) == pytest.approx(rate_bps, rel=0.2)


@pytest.mark.parametrize("loss", [0.1, 0.5])
def test_the_sender_follows_no_estimate_of_its_own(run, write_trace, loss):
    lossy = write_trace({"duration": 20_000, "capacity": 3000, "loss": loss, "rtt": 60})
    packets = run(500_000, trace_path=lossy, duration_time_ms=0)
    video = [packet for packet in packets if packet["payload_type"] == VIDEO and packet["send_time_ms"] >= 5000]
    assert 8 * sum(map(size, video)) / 15 == pytest.approx((1 - loss) * 500_000, rel=0.15)


def test_lost_packets_are_absent_and_leave_gaps(run, write_trace):
    lossy = write_trace({"duration": 20_000, "capacity": 3000, "loss": 0.1, "rtt": 60})
    packets = run(1_000_000, trace_path=lossy, duration_time_ms=0)
    assert {packet["payload_type"] for packet in packets} == {VIDEO, RETRANSMISSION}
    assert sum(packet["payload_type"] == RETRANSMISSION for packet in packets) > 100
    assert share_lost(packets) == pytest.approx(0.1, abs=0.025)


def test_sequence_numbers_have_16_bits(run):
    packets = run(10_000_000, trace_path="catalogue/steady-50m", duration_time_ms=90_000)
    numbers = [packet["sequence_number"] for packet in packets if packet["payload_type"] == VIDEO]
    assert max(numbers) == 65_535
    assert {(b - a) % 65_536 for a, b in pairwise(numbers)} == {1}


def test_seeds_and_resets(real_simulator, write_trace, run):
    lossy = write_trace({"duration": 5_000, "capacity": 1000, "loss": 0.1, "rtt": 60})
    first, second = (run(600_000, seed=seed, trace_path=lossy, duration_time_ms=0) for seed in (1, 2))
    assert first != second
    gym = Gym(simulator=real_simulator)
    gym.reset(lossy, 60, 4000)
    gym.step(100_000)
    # In the middle of a run.
    gym.reset(trace_path=lossy, duration_time_ms=0)
    again, done = [], False
    while not done:
        packets, done = gym.step(np.array([600_000.0]))
        again += packets
    gym.close()
    assert again == first


def test_faults_of_a_trace_are_repaired_with_a_warning(write_trace):
    entries = [{"duration": 500, "capacity": 1000}] * 20 + [{"duration": 500, "capacity": 9_000_000}]
    path = write_trace(*entries, name="spike.json")
    with pytest.warns(UserWarning, match=r"spike\.json: entry 20 .*cut to 1 Mbps"):
        scenario = opennetlab_scenario(path, 5000)
    assert max(scenario["forward"]["capacity"]["rates_bps"]) == 1_000_000


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


def test_traces_of_other_formats(tmp_path):
    csv = tmp_path / "mine.csv"
    csv.write_text("time_s,rate_bps\n0,1000000\n10,2000000\n20,\n")
    scenario = opennetlab_scenario(csv, 0)
    assert (scenario["name"], scenario["duration_s"]) == ("mine.csv", 20.0)
    assert scenario["forward"]["capacity"]["rates_bps"] == [1_000_000, 2_000_000]
    mahimahi = tmp_path / "mine.up"
    mahimahi.write_text("".join(f"{time_ms}\n" for time_ms in range(0, 20_000, 10)))
    scenario = opennetlab_scenario(mahimahi, 5000)
    assert scenario["duration_s"] == 5.0
    assert scenario["forward"]["capacity"]["rates_bps"][0] == pytest.approx(1_200_000, rel=0.1)


def test_scenarios_keep_their_path_and_other_flows(tmp_path):
    bundled = load_bundled("tcp-competitor").to_dict()
    for path in ("catalogue/tcp-competitor", tmp_path / "scenario.json"):
        load_bundled("tcp-competitor").save(tmp_path / "scenario.json")
        scenario = opennetlab_scenario(path, None)
        assert (scenario["forward"], scenario["reverse"]) == (bundled["forward"], bundled["reverse"])
        assert scenario["duration_s"] == bundled["duration_s"]
        assert scenario["flows"][1:] == bundled["flows"][1:]
        for key in ("media", "transport_cc"):
            assert scenario["flows"][0][key] == opennetlab_scenario("", 0)["flows"][0][key]
        assert Scenario.from_dict(scenario).to_dict() == scenario
        assert opennetlab_scenario(path, 90_000)["duration_s"] == 90.0
    with pytest.raises(InputError, match="did you mean catalogue/cellular-3m"):
        opennetlab_scenario("catalogue/celular-3m", None)


def test_use_before_reset_and_bad_arguments(tmp_path, fake_simulator):
    gym = Gym("name", simulator=fake_simulator)
    assert gym.gym_id == "name"
    with pytest.raises(InputError, match="reset first"):
        gym.step(1)
    with pytest.raises(InputError, match=r"missing\.json"):
        gym.reset(trace_path=str(tmp_path / "missing.json"))
    gym.reset()
    with pytest.raises(InputError, match="not a number"):
        gym.step(float("nan"))
    gym.close()
    with pytest.raises(InputError, match="stack 'browser': one of model, libwebrtc"):
        Gym(stack="browser")


def test_rates_beyond_bounds_and_the_end(fake_simulator, trace):
    gym = Gym(simulator=fake_simulator)
    gym.reset(trace_path=str(trace), report_interval_ms=500, duration_time_ms=1000)
    assert gym.step(10**12) == ([], False)
    assert gym.step(0) == ([], False)
    assert gym.step(1) == ([], True)
    gym.close()


def test_a_failure_is_named_and_the_gym_is_of_use_again(fake_simulator, trace, steady, tmp_path):
    failing = tmp_path / "exit.json"
    Scenario.from_dict(steady("exit-at-reset")).save(failing)
    gym = Gym(simulator=fake_simulator)
    gym.reset(failing)
    with pytest.raises(ComponentFailed, match="ended with status 7"):
        gym.step(500_000)
    assert gym.step(500_000) == ([], True)
    gym.reset(trace)
    assert gym.step(500_000) == ([], False)
    gym.close()


def test_the_stack_of_libwebrtc_is_another_program(trace, fake_simulator, monkeypatch):
    monkeypatch.setenv("WEIR_VIRTUAL_CALL", str(fake_simulator))
    monkeypatch.setenv("WEIR_SIM", "/nowhere")
    gym = Gym(stack="libwebrtc")
    gym.reset(trace)
    assert gym.step(500_000) == ([], False)
    gym.close()


def test_the_stack_of_libwebrtc(write_trace):
    try:
        find_virtual_call()
    except MissingComponent as error:
        pytest.skip(str(error))
    gym = Gym(stack="libwebrtc", timeout_s=60)
    found = []
    for loss in (0, 0.05):
        gym.reset(write_trace({"duration": 20_000, "capacity": 3000, "loss": loss, "rtt": 60}), 60, 10_000)
        packets, done = [], False
        while not done:
            arrived, done = gym.step(1_000_000)
            packets += arrived
        assert all(packet["arrival_time_ms"] - packet["send_time_ms"] >= 30 for packet in packets)
        found.append(packets)
    gym.close()
    clean, lossy = found
    later = [packet for packet in clean if packet["arrival_time_ms"] >= 5000]
    assert {packet["payload_type"] for packet in later} == {VIDEO}
    assert 8 * sum(map(size, later)) / 5 == pytest.approx(1_000_000, rel=0.2)
    assert {packet["payload_type"] for packet in lossy} == {VIDEO, RETRANSMISSION}
    assert share_lost(lossy) == pytest.approx(0.05, abs=0.025)
