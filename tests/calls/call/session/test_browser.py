"""Chromium with the page of a call, without a network namespace."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from processes import wait_until

from weir_calls.call.browser import BrowserEnd, PageSettings
from weir_calls.call.weir_peer import EndpointFailed
from weir_calls.link.child_process import monotonic_us
from weir_calls.requirements import CHROMIUM

pytestmark = pytest.mark.skipif(not os.access(CHROMIUM, os.X_OK), reason=f"{CHROMIUM} is not there")

SIZE = (320, 180)


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    path = tmp_path_factory.mktemp("video") / "source.y4m"
    noise = np.random.default_rng(1)
    with path.open("wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F30:1 Ip A1:1 C420jpeg\n" % SIZE)
        for _ in range(10):
            file.write(b"FRAME\n" + noise.integers(0, 255, SIZE[0] * SIZE[1] * 3 // 2, dtype=np.uint8).tobytes())
    return path


SETTINGS = PageSettings("send", 200, *SIZE, frames_per_second=30, codec="VP8", max_bitrate_bps=1_000_000)


def with_browser(video, work, event_log=None, **changes):
    async def run():
        sender = BrowserEnd(None, video, replace(SETTINGS, **changes), event_log=event_log)
        try:
            return await asyncio.wait_for(work(sender), 120)
        finally:
            await sender.stop()

    return asyncio.run(run())


async def until(sender, kind):
    while (message := await sender.receive())["type"] != kind:
        pass
    return message


def test_the_page_offers_the_requested_media(video):
    async def work(sender):
        ready = await sender.start()
        assert (ready["camera"]["width"], ready["camera"]["height"]) == SIZE
        await sender.send({"type": "start"})
        offer = await until(sender, "offer")
        stats = await until(sender, "stats")
        return ready, offer["sdp"], stats

    before_us = monotonic_us()
    ready, sdp, stats = with_browser(video, work, codec="VP9")
    payload = sdp.partition("m=video 9 UDP/TLS/RTP/SAVPF ")[2].split()[0]
    assert f"a=rtpmap:{payload} VP9/90000" in sdp
    assert sdp.count("a=sendonly") == 2
    assert "goog-remb" in sdp
    assert "transport-cc" in sdp
    audio = sdp.partition("m=audio")[2]
    assert "opus/48000" in audio
    assert ready["versions"]["chromium"].split(".")[0].isdigit()
    # Its times are of this machine's monotonic clock.
    assert before_us < stats["time_us"] < monotonic_us()
    assert {"media-source", "transport"} <= {entry["type"] for entry in stats["report"]}


def test_a_receiving_page_logs_every_frame_and_a_sending_page_keeps_its_event_log(video, tmp_path):
    async def pass_on(source, sink, kept):
        while (message := await source.receive()) is not None:
            if message["type"] in ("offer", "answer", "candidate"):
                await sink.send({name: value for name, value in message.items() if name not in ("time_us", "time_ms")})
            else:
                kept.append(message)

    async def work(sender):
        receiver = BrowserEnd(None, None, PageSettings("receive", 200))
        kept = []
        ends = (await receiver.start(), await sender.start())
        talk = [asyncio.create_task(pass_on(sender, receiver, []))]
        talk.append(asyncio.create_task(pass_on(receiver, sender, kept)))
        await sender.send({"type": "start"})
        await asyncio.to_thread(
            wait_until, lambda: sum(len(message["frames"]) for message in [*kept] if message["type"] == "frames") >= 60
        )
        await receiver.stop()
        await asyncio.gather(*talk[1:])
        talk[0].cancel()
        return ends, kept

    _, kept = with_browser(video, work, event_log=tmp_path / "rtc_event.log")
    # Its packets alone are more.
    assert (tmp_path / "rtc_event.log").stat().st_size > 1000
    frames = [frame for message in kept if message["type"] == "frames" for frame in message["frames"]]
    assert {(frame["width"], frame["height"]) for frame in frames[-30:]} == {SIZE}
    rtp = np.diff([frame["rtp_timestamp"] for frame in frames]) % 2**32
    times_ms = np.array([frame["time_ms"] for frame in frames])
    # RTP timestamps are of a 90 kHz clock, which runs with the page's; a busy machine decodes some of it late.
    assert np.sum(rtp) / 90 == pytest.approx(times_ms[-1] - times_ms[0], rel=0.3)
    received = [e for m in kept if "report" in m for e in m["report"] if e["type"] == "inbound-rtp"]
    of_video = {entry["ssrc"] for entry in received if entry["kind"] == "video"}
    assert {message.get("ssrc") for message in kept if message["type"] == "frames"} == of_video
    # Audio is played, else its buffer only fills.
    assert max(e["jitterBufferEmittedCount"] for e in received if e["kind"] == "audio") > 24_000


def test_the_last_statistics_come_when_it_is_stopped(video):
    async def run():
        sender = BrowserEnd(None, video, replace(SETTINGS, stats_interval_ms=60_000))
        await sender.start()
        await sender.send({"type": "start"})
        await until(sender, "offer")
        await sender.stop()
        kinds = []
        while (message := await sender.receive()) is not None:
            kinds.append(message["type"])
        return kinds

    assert asyncio.run(run())[-2:] == ["stats", "end"]


@pytest.mark.parametrize(("changes", "message"), [({"width": 640}, "configure"), ({"codec": "H261"}, "H261")])
def test_a_failure_of_the_page_is_reported(video, changes, message):
    with pytest.raises(EndpointFailed, match=message):
        with_browser(video, lambda sender: sender.start(), **changes)


def test_a_page_that_breaks_is_an_error(video):
    async def work(sender):
        await sender.start()
        await sender.send({"type": "answer", "sdp": "v=0 nonsense"})
        return await until(sender, "error")

    error = with_browser(video, work)
    assert error["fatal"]
    assert "answer" in error["message"]


def test_a_killed_browser_is_reported(video):
    async def work(sender):
        await sender.start()
        browsers = [process for process in descendants(os.getpid()) if is_browser(process)]
        assert browsers
        for process in browsers:
            os.kill(process, signal.SIGKILL)
        end = await until(sender, "end")
        assert await sender.receive() is None
        return end

    end = with_browser(video, work)
    assert end["failed"]
    assert "Chromium" in end["reason"]


def descendants(process):
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            yield child
            yield from descendants(child)


def is_browser(process):
    words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    return b"chromium" in words[0] and not any(word.startswith(b"--type=") for word in words)
