"""Logs of a call that never was, with known measures: 30/s, one freeze, steps of the capacity, cross traffic; audio of
which 2 % are concealed, a quarter of that silent, 30 ms ahead of video for 6 s and then 10 ms behind it.
"""

import json

import numpy as np

from weir_calls.call import logs
from weir_calls.call.measures import measure
from weir_calls.call.media.frame_number import BITS, BLOCKS_PER_WIDTH, crc8
from weir_calls.call.media.source_video import FRAMES
from weir_calls.call.media.y4m import Y4m
from weir_calls.call.plan import CallSettings
from weir_calls.call.record import CallProgress
from weir_eval.webrtc_stats import read_stats_log
from weir_traces.schema.scenario import Scenario

START_US = 5_000_000_000
FRAME_US = 1_000_000 / 30
FIRST_FRAME_US = 200_000
RTP_START = 0xFFFFFFFF - 90_000  # wraps after a second


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def settings(folder, controller="weir", seed=1, duration_s=12.0, scenario="steps", objective=(0.4, 0.5, 0.1)):
    capacity = {"times_s": [0.0, 5.0], "rates_bps": [2e6, 1e6]}
    return CallSettings(
        scenario=Scenario.make(
            name=scenario, duration_s=duration_s, forward={"capacity": capacity}, flows=[{"kind": "rtp"}]
        ),
        sender="chromium", controller=controller, objective=objective, duration_s=duration_s, seed=seed, width=320,
        height=180, out=folder,
    )  # fmt: skip


def make_logs(folder, duration_s=12.0, delay_ms=80.0, freeze_at_s=6.0, freeze_s=1.0, rate_share=0.8, seed=1):
    """Everything but the pictures. Frames of the freeze never come."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = []
    for index in range(int((duration_s - FIRST_FRAME_US / 1e6) * 30)):
        captured_s = index / 30
        if freeze_at_s <= captured_s < freeze_at_s + freeze_s:
            continue
        captured_us = START_US + FIRST_FRAME_US - 1000 * delay_ms + index * FRAME_US
        frames.append(
            {
                "frame_number": index % FRAMES,
                # No sender report yet in the first second.
                "capture_time_us": round(captured_us) if captured_s > 1 else None,
                "arrival_time_us": round(captured_us + 1000 * delay_ms) - 30_000,
                "render_time_us": round(captured_us + 1000 * delay_ms),
                "rtp_timestamp": (RTP_START + 3000 * index) % 2**32,
                "width": 320 if captured_s < 8 else 160,
                "height": 180 if captured_s < 8 else 90,
            }
        )
    write_lines(folder / logs.FRAME_LOG, frames)
    generator = np.random.default_rng(seed)
    link, estimates, receiver, sender = [], [], [], []
    received = 0
    for step in range(round(duration_s * 10)):
        time_us = START_US + (step + 1) * 100_000
        capacity = 2e6 if step < 50 else 1e6
        cross_bytes = 2500
        sent = int(rate_share * (capacity / 80 - cross_bytes))
        received += sent
        common = {"time_us": time_us, "scenario_time_s": (step + 1) / 10, "delay_error_ms_p95": 0.1}
        link.append(
            common
            | {
                "direction": "forward", "capacity_bps": capacity, "queue_bytes": 0, "packets": 10, "bytes": sent,
                "queueing_delay_ms": float(step % 20), "dropped_packets": int(step % 50 == 49),
                "cross_traffic_bytes": cross_bytes, "one_way_delay_ms_mean": 25.0 + step % 20,
                "one_way_delay_ms_p95": 25.9 + step % 20,
            }
        )  # fmt: skip
        link.append(common | {"direction": "reverse", "capacity_bps": None, "packets": 1, "bytes": 100})
        noise = float(generator.normal(0, 2e4))
        estimates.append({"type": "estimate", "time_us": time_us, "target_rate_bps": rate_share * capacity + noise})
        if step % 10 == 9:
            receiver.append({"time_us": time_us, "report": _received(received, step)})
            sender.append({"time_us": time_us, "report": _sent(received, rate_share * capacity, step)})
    write_lines(folder / logs.LINK_LOG, link)
    write_lines(folder / logs.ESTIMATES, estimates)
    write_lines(folder / logs.RECEIVER_STATS, receiver)
    write_lines(folder / logs.SENDER_STATS, sender)
    return frames


def make_pictures(folder, frames, source, distort=None):
    """The y4m of the frames, as the source has them; `distort` changes the planes' bytes of one (index, bytes)."""
    with Y4m(source) as sent, (folder / logs.FRAMES).open("wb") as file:
        file.write(f"YUV4MPEG2 W{sent.width} H{sent.height} F30:1 Ip A1:1 C420\n".encode())
        for index, frame in enumerate(frames):
            if frame.get("written", True):
                planes = sent.frame(frame["frame_number"])
                file.write(b"FRAME\n" + (distort(index, planes) if distort else planes))


def progress(duration_s=12.0, **more):
    ready = {"receiver": {"type": "ready", "versions": {"weir-peer": "0.1.0", "libwebrtc": "M109"}}}
    times = {"started_us": START_US, "ended_us": START_US + round(1e6 * duration_s)}
    return CallProgress(**(times | {"ready": ready} | more))


def measured(folder, **more):
    """The measures of its call of 12 s."""
    sender = read_stats_log(folder / logs.SENDER_STATS)
    known = {"sender": sender, "started_us": START_US, "end_us": START_US + 12_000_000, "base_one_way_delay_ms": 25.0}
    return measure(folder, **(known | more))


def luma(video, index):
    """The luma plane of a frame, shape [height, width]."""
    size = video.height * video.width
    return np.frombuffer(video.frame(index), np.uint8, size).reshape(video.height, video.width)


def read_number(luma):
    """The frame number in a luma plane, read as weir-peer does; None where the check sum does not match."""
    block = luma.shape[1] / BLOCKS_PER_WIDTH

    def middle(start):
        return slice(round(start + block / 4), round(start + 3 * block / 4))

    bits = 0
    for k in range(BITS):
        bits = bits << 1 | int(luma[middle(block), middle(block * (1 + k))].mean() > 128)
    return bits >> 8 if crc8((bits >> 8).to_bytes(2, "big")) == bits & 0xFF else None


def changed(record, call=None, **more):
    """The record with other values of its part `call`, and of its own."""
    return record.model_copy(update={"call": record.call.model_copy(update=call or {})} | more)


def _received(received, step):
    return [
        {
            "id": "IT01V1", "type": "inbound-rtp", "kind": "video", "bytesReceived": received,
            "framesDecoded": 3 * step, "qpSum": 60 * step, "freezeCount": int(step > 75),
            "totalFreezesDuration": 1.1 * (step > 75), "jitter": 0.004, "packetsReceived": step * 10, "packetsLost": 1,
            "totalDecodeTime": 0.006 * step, "estimatedPlayoutTimestamp": 3.9e12 + 100 * step,
            "jitterBufferEmittedCount": 3 * step, "jitterBufferTargetDelay": 0.09 * step,
            "jitterBufferMinimumDelay": 0.06 * step,
        },
        {
            "id": "IT01A1", "type": "inbound-rtp", "kind": "audio", "totalSamplesReceived": 4800 * step,
            "concealedSamples": 96 * step, "silentConcealedSamples": 24 * step, "jitterBufferDelay": 192.0 * step,
            "jitterBufferEmittedCount": 4800 * step,
            "estimatedPlayoutTimestamp": 3.9e12 + 100 * step + (30 if step < 60 else -10),
        },
        {"id": "T", "type": "transport", "selectedCandidatePairId": "CP1"},
    ]  # fmt: skip


def _sent(sent, rate_bps, step):
    return [
        {"id": "CP0", "type": "candidate-pair", "availableOutgoingBitrate": 1.0},
        {"id": "CP1", "type": "candidate-pair", "availableOutgoingBitrate": rate_bps, "currentRoundTripTime": 0.06},
        {
            "id": "OT01V1", "type": "outbound-rtp", "kind": "video", "bytesSent": sent, "targetBitrate": rate_bps,
            "qualityLimitationReason": "bandwidth", "framesPerSecond": 30, "totalEncodeTime": 0.015 * step,
            "framesEncoded": 3 * step, "packetsSent": 10 * step, "totalPacketSendDelay": 0.08 * step,
        },
        {"id": "SV1", "type": "media-source", "kind": "video", "framesPerSecond": 30},
        {"id": "T", "type": "transport", "selectedCandidatePairId": "CP1"},
    ]  # fmt: skip
