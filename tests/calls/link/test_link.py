"""The real link: UDP between two networks, against the scenario."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from link import real_network as network
from processes import is_running, wait_until

from weir_calls.call.link_accuracy import link_accuracy
from weir_calls.link.namespaces import CallNamespaces
from weir_calls.link.process import LinkProcess
from weir_cli.errors import ComponentFailed, InputError, MissingComponent
from weir_sim.executables import find_simulator
from weir_traces.schema.scenario import Scenario

pytestmark = pytest.mark.skipif(bool(network.missing()), reason=f"the real link {network.missing()}")

ONE_WAY_DELAY_S = 0.03


def scenario_of(times_s, rates_bps, flows=(), **forward):
    capacity = {"times_s": times_s, "rates_bps": rates_bps}
    link = {"capacity": capacity, "one_way_delay_ms": 1000 * ONE_WAY_DELAY_S, "queue": {"milliseconds": 400}} | forward
    return Scenario.make(name="test", duration_s=60.0, forward=link, flows=[{"kind": "rtp", "id": "call"}, *flows])


@pytest.fixture
def namespaces():
    with CallNamespaces() as namespaces:
        yield namespaces


@pytest.fixture
def make_link(namespaces, tmp_path):
    def make(scenario, **options):
        path = tmp_path / "scenario.json"
        scenario.save(path)
        return LinkProcess(path, namespaces, tmp_path / "link.jsonl", tmp_path / "call.log", **options)

    return make


@pytest.fixture
def receiver(namespaces, request):
    """Made once the link is there."""
    receivers = []

    def make(**where):
        new_receiver = network.Receiver(where.pop("network", namespaces.right), **where)
        receivers.append(new_receiver)
        return new_receiver

    yield make
    for opened in receivers:
        opened.close()


def forward_lines(path):
    return [line for line in map(json.loads, path.read_text().splitlines()) if line["direction"] == "forward"]


def wait_until_passed(log, packets):
    """Until the link has carried or dropped that many packets of the call."""
    counts = ("packets", "dropped_packets", "dropped_while_down_packets")
    wait_until(lambda: sum(line[name] for line in forward_lines(log) for name in counts) >= packets, "all packets")


@pytest.mark.asyncio
async def test_capacity_follows_the_trace_and_leaves_room_for_cross_traffic(make_link, namespaces, receiver, tmp_path):
    cross = {"kind": "cbr", "id": "cross", "rate_bps": 1e6, "packet_bytes": 200, "start_s": 3.0, "stop_s": 5.0}
    scenario = scenario_of([0.0, 1.5, 3.0], [4e6, 2e6, 6e6], [cross])
    link = make_link(scenario)
    await link.start()
    received = receiver()
    started_us = await link.begin()
    sent = await asyncio.to_thread(network.send, namespaces.left, 8e6, 5.0)
    await asyncio.to_thread(wait_until_passed, tmp_path / "link.jsonl", len(sent))
    await link.stop()
    assert link.failure == ""

    lines = forward_lines(tmp_path / "link.jsonl")
    carried_packets = sum(line["packets"] for line in lines)
    wait_until(lambda: len(received.packets) >= carried_packets, "the last packets")
    packets = received.packets
    assert len(packets) == carried_packets
    accuracy = link_accuracy(tmp_path / "link.jsonl", scenario)
    assert accuracy.capacity_ratio == pytest.approx(1.0, abs=0.02)
    capacity = scenario.forward.capacity.trace()
    arrived_s = (packets[:, 1] - 1000 * started_us) / 1e9 - ONE_WAY_DELAY_S
    for start_s, end_s in ((0.2, 1.5), (1.5, 3.0), (3.0, 4.9)):
        received_bytes = packets[(arrived_s > start_s) & (arrived_s <= end_s), 2].sum()
        cross_bytes = sum(
            line["cross_traffic_bytes"] for line in lines if start_s < (line["scenario_time_s"] or 0) <= end_s
        )
        expected = capacity.integrate(start_s, end_s) / 8
        # A machine that stops the link moves packets over the edges of the interval.
        late = 2 * accuracy.delay_error_ms_p95 / 1000 / (end_s - start_s)
        assert received_bytes + cross_bytes == pytest.approx(expected, rel=0.02 + late), (start_s, end_s)
        # With the queue full, cross traffic loses packets as the call does.
        assert (cross_bytes > 0.2 * 1e6 / 8 * (end_s - start_s)) == (start_s == 3.0)

    assert sum(line["dropped_packets"] for line in lines) > 500
    running = [line for line in lines if line["scenario_time_s"] is not None]
    for line in running[:40]:
        end_s = line["scenario_time_s"]
        assert line["capacity_bps"] == pytest.approx(capacity.integrate(max(0, end_s - 0.1), end_s) / 0.1, rel=1e-3)


@pytest.mark.asyncio
async def test_delay_is_transmission_and_propagation_in_both_directions(make_link, namespaces, receiver, tmp_path):
    scenario = scenario_of([0.0], [4e6])
    link = make_link(scenario)
    await link.start()
    right = receiver()
    left = receiver(network=namespaces.left)
    # Before the scenario begins, packets pass at the capacity of its time 0.
    before = await asyncio.to_thread(network.send, namespaces.left, 8e5, 0.5)
    await link.begin()
    sent = await asyncio.to_thread(network.send, namespaces.left, 8e5, 1.5)
    sent_back = await asyncio.to_thread(network.send, namespaces.right, 8e5, 0.5, to=network.LEFT_ADDRESS)
    wanted = (len(before) + len(sent), len(sent_back))
    await asyncio.to_thread(wait_until, lambda: (len(right.packets), len(left.packets)) == wanted, "all packets")
    await link.stop()

    delays_ms = (right.packets[:, 1] - right.packets[:, 0]) / 1e6
    # The sender's time stamp and its sending are apart where this process was pushed aside: hence the median. The link
    # reports how late it was itself.
    late_ms = link_accuracy(tmp_path / "link.jsonl", scenario).delay_error_ms_p95
    assert np.median(delays_ms) == pytest.approx(30 + 2.4, abs=1.0 + late_ms)
    assert delays_ms.min() > 32.3
    assert np.median(left.packets[:, 1] - left.packets[:, 0]) / 1e6 == pytest.approx(30, abs=1.0 + late_ms)
    lines = forward_lines(tmp_path / "link.jsonl")
    # An interval's line waits for its end; the last one comes with the end of the link.
    assert sum(line["packets"] for line in lines) == len(right.packets)


@pytest.mark.asyncio
async def test_down_drops_everything_and_ends(make_link, namespaces, receiver, tmp_path):
    link = make_link(scenario_of([0.0], [10e6]))
    await link.start()
    received = receiver()
    sending = asyncio.create_task(asyncio.to_thread(network.send, namespaces.left, 1e6, 2.5))
    await asyncio.to_thread(wait_until, lambda: len(received.packets) > 20, "packets before the link is down")
    down_us = await link.down(1.0)
    sent_s = (await sending) / 1e9 - down_us / 1e6
    await asyncio.to_thread(wait_until_passed, tmp_path / "link.jsonl", len(sent_s))
    await link.stop()
    packets = sum(line["packets"] for line in forward_lines(tmp_path / "link.jsonl"))
    wait_until(lambda: len(received.packets) == packets, "the last packets")
    received_s = received.packets[:, 0] / 1e9 - down_us / 1e6
    # Packets in flight when the link goes down are lost too; the edges belong to neither side.
    before, after = -ONE_WAY_DELAY_S - 0.02, 1.02
    assert not np.any((received_s > -ONE_WAY_DELAY_S + 0.02) & (received_s < 0.98))
    passed_s = sent_s[(sent_s < before) | (sent_s > after)]
    assert len(passed_s) > 20
    assert set(passed_s) <= set(received_s)
    lines = forward_lines(tmp_path / "link.jsonl")
    assert sum(line["dropped_while_down_packets"] for line in lines) == len(sent_s) - len(received_s)
    inside = [line for line in lines if down_us + 0.12e6 < line["time_us"] < down_us + 0.98e6]
    assert [line["capacity_bps"] for line in inside] == [0] * len(inside)
    assert len(inside) >= 5
    assert sum(line["dropped_packets"] for line in lines) == 0


@pytest.mark.asyncio
async def test_the_log_is_reported_as_it_grows_and_ends_with_the_link(make_link):
    link = make_link(scenario_of([0.0], [4e6]))
    await link.start()
    await link.begin()
    lines = []
    async for line in link.log():
        lines.append(line)
        if len(lines) == 12:
            asyncio.get_running_loop().call_soon(asyncio.ensure_future, link.stop())
    assert len(lines) >= 12
    times = [line["scenario_time_s"] for line in lines if line["direction"] == "forward"][1:]
    assert times[:4] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert link.failure == ""


@pytest.mark.asyncio
async def test_what_it_refuses_does_not_stop_it(make_link):
    link = make_link(scenario_of([0.0], [4e6]))
    await link.start()
    await link.begin()
    with pytest.raises(ComponentFailed, match="started already"):
        await link.begin()
    with pytest.raises(ComponentFailed, match="duration_s: must be greater than 0"):
        await link.down(0)
    assert link.failure == ""
    await link.down(0.01)
    await link.stop()


@pytest.mark.asyncio
async def test_a_killed_link_is_noticed(make_link):
    link = make_link(scenario_of([0.0], [4e6]))
    await link.start()
    os.kill(link.process_id, signal.SIGKILL)
    async for _ in link.log():
        pass
    assert "killed by SIGKILL" in link.failure
    with pytest.raises(ComponentFailed, match="killed by SIGKILL"):
        await link.begin()
    await link.stop()


@pytest.mark.asyncio
async def test_wrong_input_and_missing_devices_are_one_message(make_link, namespaces, tmp_path):
    link = make_link(scenario_of([0.0], [4e6]))
    (tmp_path / "scenario.json").write_text('{"schema": "weir.scenario/1"}')
    with pytest.raises(InputError, match=r"scenario.json: name: is missing"):
        await link.start()
    await link.stop()
    link = make_link(scenario_of([0.0], [4e6]))
    link._command += ["--log-interval-ms", "1"]
    with pytest.raises(InputError, match="10 to 10000"):
        await link.start()


@pytest.mark.parametrize(
    ("end", "reason"),
    [("stop", "stop"), ("eof", "end of input"), (signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "SIGINT")],
)
def test_every_orderly_end(namespaces, tmp_path, end, reason):
    path = tmp_path / "scenario.json"
    scenario_of([0.0], [4e6]).save(path)
    devices = [namespaces.left.device, namespaces.right.device]
    command = [find_simulator(), "link", path, "--left", str(devices[0]), "--right", str(devices[1])]
    link = subprocess.Popen(
        [*command, "--log", tmp_path / "log"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        pass_fds=devices,
    )  # fmt: skip
    assert json.loads(link.stdout.readline())["type"] == "ready"
    if end == "stop":
        link.stdin.write('nonsense\n{"type":"stop"}\n')
        link.stdin.flush()
    elif end == "eof":
        link.stdin.close()
    else:
        link.send_signal(end)
    events = [json.loads(line) for line in link.stdout]
    assert link.wait() == 0
    assert events[-1]["type"] == "end"
    assert events[-1]["reason"] == reason
    assert [event["fatal"] for event in events[:-1]] == ([False] if end == "stop" else [])


OWNER = """
import asyncio, sys
from pathlib import Path
from weir_calls.link.process import LinkProcess
from weir_calls.link.namespaces import CallNamespaces
async def main():
    folder = Path(sys.argv[1])
    with CallNamespaces() as made:
        link = LinkProcess(folder / "scenario.json", made, folder / "link.jsonl", folder / "call.log")
        await link.start()
        print(link.process_id, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


def test_it_dies_with_its_owner(tmp_path):
    scenario_of([0.0], [4e6]).save(tmp_path / "scenario.json")
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    link = int(owner.stdout.readline())
    assert is_running(link)
    owner.kill()
    owner.wait()
    owner.stdout.close()
    wait_until(lambda: not is_running(link), "the end of the link")


@pytest.mark.parametrize(("left", "right", "message"), [("98", "99", "descriptor 98: Bad file"), ("5", "5", "two")])
def test_descriptors_that_are_no_devices_are_one_message(tmp_path, left, right, message):
    path = tmp_path / "scenario.json"
    scenario_of([0.0], [4e6]).save(path)
    command = [find_simulator(), "link", path, "--left", left, "--right", right, "--log", tmp_path / "log"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout, message in done.stderr) == (2, "", True), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "log").exists()


@pytest.mark.asyncio
async def test_missing_simulator(namespaces, tmp_path, monkeypatch):
    monkeypatch.setenv("WEIR_SIM", str(tmp_path / "nothing"))
    with pytest.raises(MissingComponent):
        LinkProcess(tmp_path / "scenario.json", namespaces, tmp_path / "log", tmp_path / "call.log")
