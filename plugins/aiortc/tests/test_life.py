"""When the estimator of a connection begins and ends, and what it does meanwhile beside estimating."""

import asyncio
import contextlib
import random
import struct
from typing import Any

import pytest
from aiortc import RTCPeerConnection
from aiortc.exceptions import InvalidStateError
from aiortc.rtcdtlstransport import State
from aiortc.rtp import RtcpByePacket
from simulated_call import AUDIO_SSRC, RTX_SSRC, VIDEO_SSRC, Host, packet, received, run
from weir_aiortc import attach


async def video(host: Host, seconds: float, first_number: int = 0) -> None:
    """A packet every 10 ms, 880 kbps."""
    for i in range(int(100 * seconds)):
        await asyncio.sleep(0.01)
        await host.receive(packet(VIDEO_SSRC, first_number + i, asyncio.get_running_loop().time()))


def test_the_start_rate_is_told_before_the_media_and_rests_where_none_comes() -> None:
    async def call() -> None:
        host = Host()
        host.transport._state = State.CONNECTING
        attach(host.pc)
        await asyncio.sleep(5)
        assert host.sent == []
        host.transport._state = State.CONNECTED
        host.pc.emit("connectionstatechange")
        await asyncio.sleep(0.001)
        assert host.rembs() == [(300_000, [])]
        await asyncio.sleep(20)
        # Five a second, until the tenth after `attach`.
        assert 20 < len(host.rembs()) < 30
        assert {rate_bps for rate_bps, _ in host.rembs()} == {300_000}

    run(call())


def test_a_connection_that_receives_nothing_sends_nothing() -> None:
    async def call() -> None:
        host = Host()
        for transceiver in host.transceivers.values():
            transceiver._setCurrentDirection("sendonly")
        attach(host.pc)
        host.pc.emit("connectionstatechange")
        await asyncio.sleep(5)
        assert host.sent == []

    run(call())


def test_the_timer_goes_on_in_silence() -> None:
    async def call() -> None:
        host = Host()
        attachment = attach(host.pc)
        await video(host, 2)
        decisions, sent = attachment.estimator.counters()["decisions"], len(host.sent)
        await asyncio.sleep(5)
        assert attachment.estimator.counters()["decisions"] > decisions + 20
        assert len(host.sent) > sent

    run(call())


@pytest.mark.parametrize("attached", [True, False])
def test_of_both_estimators_one_speaks(attached: bool) -> None:
    async def call() -> None:
        host = Host()
        attachment = attach(host.pc)
        await video(host, 6)
        assert len(host.rembs()) == attachment.rembs_sent
        if attached:
            return
        attachment.detach()
        host.sent.clear()
        await video(host, 6, first_number=600)
        assert host.rembs()
        assert attachment.rembs_sent == attachment.statistics()["rembs_sent"]
        assert attachment.estimator.statistics(10**15)["packets_received"] == 600

    run(call())


def test_a_stream_that_says_goodbye_leaves_the_remb() -> None:
    async def call() -> None:
        host = Host()
        attach(host.pc)
        for one in received(5, loss=0.05):
            await asyncio.sleep(max(0.0, 1000 + one.arrival_us / 1e6 - asyncio.get_running_loop().time()))
            await host.receive(one.rtp)
        await host.receive_rtcp(RtcpByePacket(sources=[AUDIO_SSRC]))
        await asyncio.sleep(2)
        assert set(host.rembs()[-1][1]) == {VIDEO_SSRC, RTX_SSRC}

    run(call())


def test_streams_of_a_transceiver_that_ends_leave_the_remb() -> None:
    async def call() -> None:
        host = Host()
        attach(host.pc)
        await video(host, 1)
        await host.receive(packet(AUDIO_SSRC, 1, 1001.0, 80))
        host.transceivers["video"]._setCurrentDirection("inactive")
        host.pc.emit("signalingstatechange")
        await asyncio.sleep(2)
        assert host.rembs()[-1][1] == [AUDIO_SSRC]

    run(call())


def test_closing_under_load_ends_everything() -> None:
    async def call() -> None:
        host = Host()
        attachment = attach(host.pc)

        async def load() -> None:
            while True:
                await video(host, 0.05)

        loads = [asyncio.create_task(load()) for _ in range(5)]
        await asyncio.sleep(2)
        await host.pc.close()
        await asyncio.sleep(0)
        sent, heard = attachment.rembs_sent, attachment.statistics()["packets_received"]
        await asyncio.sleep(5)
        assert sent == attachment.rembs_sent > 0
        assert heard == attachment.statistics()["packets_received"]
        attachment.detach()
        for task in loads:
            task.cancel()
        await asyncio.gather(*loads, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run(call())


def test_a_transport_that_is_gone_is_no_error() -> None:
    async def call() -> None:
        host = Host()

        async def gone(_: bytes) -> None:
            raise ConnectionError("not connected")

        host.transport._send_rtp = gone
        complaints = _complaints()
        attachment = attach(host.pc)
        await video(host, 2)
        assert attachment.rembs_sent == 0
        assert attachment.estimator.counters()["rembs_due"] > 0
        assert complaints == []

    run(call())


def test_what_a_callback_raises_reaches_the_loop_and_the_estimator_goes_on() -> None:
    async def call() -> None:
        host = Host()
        complaints = _complaints()

        def fail(_: object) -> None:
            raise RuntimeError("the application's own")

        attachment = attach(host.pc, on_estimate=fail)
        await video(host, 3)
        # The last one may be on its way.
        await asyncio.sleep(0.001)
        assert len(complaints) == attachment.rembs_sent > 3
        assert all(str(complaint["exception"]) == "the application's own" for complaint in complaints)

    run(call())


def test_garbage_is_no_error() -> None:
    async def call() -> None:
        host = Host()
        attachment = attach(host.pc)
        rng = random.Random(5)
        template = packet(VIDEO_SSRC, 7, 1000.0, 60).serialize(host.extensions)
        for i in range(3000):
            data = bytearray(template[: rng.randrange(len(template) + 1)]) if i % 2 else bytearray(rng.randbytes(40))
            for _ in range(rng.randrange(6)):
                if data:
                    data[rng.randrange(len(data))] = rng.randrange(256)
            # aiortc's own parser does not catch header extensions of a wrong size.
            with contextlib.suppress(struct.error):
                await host.transport._handle_rtp_data(bytes(data), arrival_time_ms=0)
            await asyncio.sleep(0.001)
        assert attachment.statistics()["packets_received"] > 0

    run(call())


def test_errors_are_raised_by_the_call() -> None:
    async def call() -> None:
        host = Host()
        with pytest.raises(ValueError, match="objective"):
            attach(host.pc, objective="speed")
        with pytest.raises(TypeError, match="RTCPeerConnection"):
            attach(object())
        attachment = attach(host.pc)
        with pytest.raises(InvalidStateError, match="already"):
            attach(host.pc)
        attachment.detach()
        attach(host.pc)
        await host.pc.close()
        with pytest.raises(InvalidStateError, match="closed"):
            attach(host.pc)

    run(call())
    with pytest.raises(RuntimeError, match="event loop"):
        attach(_connection())


def _connection() -> RTCPeerConnection:
    async def make() -> RTCPeerConnection:
        return RTCPeerConnection()

    return run(make())


def _complaints() -> list[dict[str, Any]]:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    return complaints
