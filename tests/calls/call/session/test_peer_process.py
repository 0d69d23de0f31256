"""weir-peer as an end of a call: whatever it does is noticed, and it never outlives its owner."""

import asyncio
import signal
import subprocess
import sys

import pytest
from processes import is_running, wait_until

from weir_calls.call.weir_peer import EndpointFailed, PeerProcess


def with_peer(folder, work, role="receive"):
    """Runs work(peer), then stops it."""

    async def run():
        peer = PeerProcess("receiver", None, ["--role", role], folder / "call.log")
        try:
            return await asyncio.wait_for(work(peer), 30)
        finally:
            await peer.stop()

    return asyncio.run(run())


async def answer(peer):
    await peer.start()
    await peer.send({"type": "offer", "sdp": "v=0"})


async def until_end(peer):
    messages = []
    while (message := await peer.receive()) is not None:
        messages.append(message)
    return messages


def test_messages_pass_and_the_peer_stops_on_request(fake_peer, tmp_path):
    async def work(peer):
        ready = await peer.start()
        assert ready["versions"] == {"weir": "0.0"}
        await peer.send({"type": "offer", "sdp": "v=0"})
        assert (await peer.receive())["type"] == "answer"
        process_id = peer.process_id
        await peer.send({"type": "stop"})
        messages = await until_end(peer)
        assert messages[-1]["type"] == "end"
        assert not messages[-1].get("failed")
        assert all(isinstance(message["time_us"], int) for message in messages)
        return process_id

    process_id = with_peer(tmp_path, work)
    assert not is_running(process_id)
    assert [order["type"] for order in fake_peer.received_orders()][:2] == ["offer", "stop"]


def test_a_peer_that_never_gets_ready_is_given_up(fake_peer, tmp_path, monkeypatch):
    monkeypatch.setattr("weir_calls.call.weir_peer._START_LIMIT_S", 0.5)
    monkeypatch.setattr("weir_calls.call.weir_peer._STOP_LIMIT_S", 0.2)
    fake_peer(receive="never ready")
    with pytest.raises(EndpointFailed, match="not ready within"):
        with_peer(tmp_path, lambda peer: peer.start())


def test_a_peer_that_does_not_stop_is_killed(fake_peer, tmp_path, monkeypatch):
    monkeypatch.setattr("weir_calls.call.weir_peer._STOP_LIMIT_S", 0.5)
    fake_peer(receive="ignore stop")

    async def work(peer):
        await answer(peer)
        return peer.process_id

    process_id = with_peer(tmp_path, work)
    assert not is_running(process_id)


def test_it_dies_with_a_parent_that_is_killed(fake_peer, tmp_path):
    # Which does not mind that nobody speaks to it any more.
    fake_peer(receive="ignore stop")
    program = f"""
import asyncio, pathlib
from weir_calls.call.weir_peer import PeerProcess
async def main():
    peer = PeerProcess("receiver", None, ["--role", "receive"], pathlib.Path({str(tmp_path / "log")!r}))
    await peer.start()
    print(peer.process_id, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        process_id = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    wait_until(lambda: not is_running(process_id), "the end of the peer")
