"""A call between two peers: what arrives, what is decided, what is written."""

import itertools
import json
import time

import numpy as np
import pytest

from weir_calls.call.media.wav import read_wav, write_wav

START_BPS = 400_000


def media(report, kind):
    return next((stats for stats in report if stats["type"] == kind and stats["kind"] == "video"), {})


TONE_HZ = 750


def tone(path):
    write_wav(path, 0.3 * np.sin(2 * np.pi * TONE_HZ * np.arange(48_000) / 48_000), 48_000)
    return path


@pytest.fixture(scope="module")
def call(start_call, model, tmp_path_factory):
    """One call of about six seconds, whose objective is changed in the middle, ended by `stop`."""
    frames = tmp_path_factory.mktemp("peer") / "received.y4m"
    bitrates = ("--start-bitrate-bps", START_BPS, "--max-bitrate-bps", 2_000_000)
    sender, receiver = start_call(
        (*bitrates, "--audio", "--audio-file", tone(frames.with_name("tone.wav"))),
        (*bitrates, "--audio", "--model", model, "--frames", frames, "--frames-size", "160x90",
         "--received-audio", frames.with_name("received.wav")),
    )  # fmt: skip
    connected = receiver.wait_for_state("connected")
    receiver.wait_for("stats", lambda line: media(line["report"], "inbound-rtp").get("framesDecoded", 0) > 60)
    receiver.send({"type": "objective", "throughput": 0.2, "latency": 1.6, "loss": 0.2})
    receiver.wait_for("estimate", lambda line: line["objective"]["latency"] > 0.7)
    receiver.wait_for("stats", lambda line: line["time_us"] > connected["time_us"] + 6_000_000)
    receiver.send({"type": "objective", "throughput": -1, "latency": 1, "loss": 1})
    receiver.send_raw(b'nonsense\n[]\n{"type": "candidate", "sdpMLineIndex": 1e99}\n')
    receiver.send_raw(b'{"type": "stats", "filler": "' + b"x" * (2 << 20) + b'"}\n')
    receiver.wait_for("error", lambda line: "1 MiB" in line["message"])
    sender.wait_for("stats", lambda line: media(line["report"], "outbound-rtp").get("framesEncoded", 0) > 60)
    statuses = (sender.stop(), receiver.stop())
    return sender, receiver, statuses, frames


def test_stop_ends_with_status_0(call):
    sender, receiver, statuses, _ = call
    assert statuses == (0, 0)
    assert sender.lines[-1]["type"] == receiver.lines[-1]["type"] == "end"
    assert receiver.lines[-1]["reason"] == "stop"


def test_standard_output_has_only_json_lines_with_a_time(call):
    for peer in call[:2]:
        assert peer.not_json == []
        assert all(isinstance(line["time_us"], int) for line in peer.lines)
        assert [line["state"] for line in peer.of_type("state")][:2] == ["connecting", "connected"]


def test_pictures_arrive_numbered_in_order_with_their_times(call):
    frames = call[3]
    lines = [json.loads(line) for line in (frames.parent / (frames.name + ".jsonl")).read_text().splitlines()]
    assert len(lines) > 60
    numbers = [line["frame_number"] for line in lines]
    assert None not in numbers
    steps = [(b - a) % 300 for a, b in itertools.pairwise(numbers)]
    assert all(1 <= step < 60 for step in steps)
    assert [line["render_time_us"] for line in lines] == sorted(line["render_time_us"] for line in lines)
    delays_s = [(x["render_time_us"] - x["capture_time_us"]) * 1e-6 for x in lines if x["capture_time_us"]]
    # Unknown before the first sender report only.
    assert len(delays_s) > len(lines) / 2
    assert all(0 < delay < 5 for delay in delays_s)
    assert min(delays_s) < 1

    written = sum(line.get("written", True) for line in lines)
    content = frames.read_bytes()
    header = content[: content.index(b"\n") + 1]
    assert header.split()[:3] == [b"YUV4MPEG2", b"W160", b"H90"]
    assert len(content) - len(header) == written * (len(b"FRAME\n") + 160 * 90 * 3 // 2)


def test_audio_is_the_file_in_a_loop_and_what_is_played_is_written(call):
    samples, rate_hz = read_wav(call[3].with_name("received.wav"))
    assert rate_hz == 48_000
    assert len(samples) > 4 * rate_hz
    seconds = samples[rate_hz // 2 : len(samples) // rate_hz * rate_hz - rate_hz // 2].reshape(-1, rate_hz)
    spectrum = np.abs(np.fft.rfft(seconds))
    assert set(spectrum.argmax(axis=1)[:-1]) == {TONE_HZ}


def test_estimates_tell_what_was_decided_and_follow_the_objective(call):
    estimates = call[1].of_type("estimate")
    assert len(estimates) > 30
    assert {line["controller"] for line in estimates} == {"weir"}
    assert all(line["in_charge"] for line in estimates)
    assert all(30_000 <= line["target_rate_bps"] <= 2_000_000 for line in estimates)
    assert max(line["receive_rate_bps"] for line in estimates) > 50_000
    first, last = estimates[0]["objective"], estimates[-1]["objective"]
    assert (first["throughput"], first["latency"], first["loss"]) == pytest.approx((0.5, 0.4, 0.1))
    assert (last["throughput"], last["latency"], last["loss"]) == pytest.approx((0.1, 0.8, 0.1))


def test_first_remb_is_the_start_rate_and_comes_before_media(call):
    receiver = call[1]
    remb = receiver.of_type("remb")[0]
    # Up to 4 % lower: it must differ from one that got lost.
    assert 0.95 * START_BPS <= remb["bitrate_bps"] <= START_BPS
    first_media = next(line for line in receiver.of_type("estimate") if line["receive_rate_bps"] > 0)
    assert remb["time_us"] < first_media["time_us"]


def test_statistics_are_those_of_get_stats(call):
    sender, receiver = call[:2]
    received = receiver.of_type("stats")[-1]["report"]
    sent = sender.of_type("stats")[-1]["report"]
    assert media(received, "inbound-rtp")["framesDecoded"] > 60
    assert media(sent, "outbound-rtp")["framesEncoded"] > 60
    assert any(stats["type"] == "inbound-rtp" and stats["kind"] == "audio" for stats in received)
    # Milliseconds since 1970.
    assert all(abs(stats["timestamp"] / 1000 - time.time()) < 3600 for stats in received)


def test_bad_lines_are_answered_and_do_no_harm(call):
    errors = call[1].of_type("error")
    assert not any(line["fatal"] for line in errors)
    messages = [line["message"] for line in errors]
    parts = ("weights must be above 0", "not JSON", "JSON object", "sdpMLineIndex", "1 MiB")
    assert len(messages) == len(parts)
    for part, message in zip(parts, messages, strict=True):
        assert part in message


def test_codec(start_call):
    sender, receiver = start_call(("--codec", "VP9"), ("--codec", "VP9"))
    report = receiver.wait_for("stats", lambda line: media(line["report"], "inbound-rtp").get("framesDecoded", 0) > 5)
    used = media(report["report"], "inbound-rtp")["codecId"]
    assert next(x for x in report["report"] if x["id"] == used)["mimeType"] == "video/VP9"
    assert (sender.stop(), receiver.stop()) == (0, 0)


@pytest.mark.parametrize(
    ("controller", "feedback", "is_ect1"),
    [("weir-send", "transport-wide-cc", False), ("weir-send-ccfb", "ack ccfb", True)],
)
def test_weir_at_the_sender_decides_from_transport_feedback(start_call, model, controller, feedback, is_ect1):
    bitrates = ("--start-bitrate-bps", START_BPS, "--max-bitrate-bps", 2_000_000)
    sender, receiver = start_call(("--controller", controller, "--model", model, *bitrates), ("--controller", "gcc"))
    assert (sender.of_type("ready")[0]["controller"], sender.of_type("ready")[0]["active"]) == (controller, "weir")
    assert feedback in receiver.wait_for("answer")["sdp"]
    # Only feedback can have raised the target.
    sender.wait_for("estimate", lambda line: line["target_rate_bps"] > 2 * START_BPS)
    stats = receiver.wait_for("stats", lambda line: media(line["report"], "inbound-rtp").get("framesDecoded", 0) > 60)
    video = media(stats["report"], "inbound-rtp")
    assert (video["packetsReceivedWithEct1"] > video["packetsReceived"] / 2) == is_ect1
    report = sender.wait_for("sender_report")
    # When it was captured, on this machine's clock.
    assert 0 < report["time_us"] - report["capture_time_us"] < 5_000_000
    assert receiver.of_type("remb") == receiver.of_type("estimate") == []
    estimates = sender.of_type("estimate")
    assert estimates[0]["target_rate_bps"] == START_BPS
    assert all(30_000 <= line["target_rate_bps"] <= 2_000_000 for line in estimates)
    assert (sender.stop(), receiver.stop()) == (0, 0)


@pytest.mark.parametrize("remb_alone", [(), ("--remb-alone",)])
def test_weir_at_the_sender_obeys_a_receiver_that_says_less(start_call, model, remb_alone):
    receiver_options = ("--start-bitrate-bps", 150_000, "--max-bitrate-bps", 200_000, *remb_alone)
    sender, receiver = start_call(("--controller", "weir-send", "--model", model), receiver_options)
    sender.wait_for("estimate", lambda line: line["target_rate_bps"] <= 200_000)
    receiver.wait_for("stats", lambda line: media(line["report"], "inbound-rtp").get("framesDecoded", 0) > 30)
    later = [line["target_rate_bps"] for line in sender.of_type("estimate")][3:]
    assert max(later, default=0) <= 200_000
    assert (sender.stop(), receiver.stop()) == (0, 0)


@pytest.mark.parametrize("controller", ["gcc", "shadow"])
def test_gcc_in_charge(start_call, controller):
    sender, receiver = start_call(("--controller", "gcc"), ("--controller", controller))
    receiver.wait_for("stats", lambda line: media(line["report"], "inbound-rtp").get("framesDecoded", 0) > 10)
    assert "transport-wide-cc" in receiver.of_type("answer")[0]["sdp"]
    assert receiver.of_type("remb") == []
    estimates = receiver.of_type("estimate")
    assert bool(estimates) == (controller == "shadow")
    assert not any(line["in_charge"] for line in estimates)
    if controller == "shadow":
        # Packets with transport sequence numbers reach Weir too.
        assert any(line["receive_rate_bps"] > 0 for line in estimates)
    assert (sender.stop(), receiver.stop()) == (0, 0)


def test_bitrate_bounds_hold_from_when_they_are_set(start_call):
    sender, receiver = start_call(("--start-bitrate-bps", 300_000), ("--start-bitrate-bps", 300_000))
    receiver.wait_for("estimate", lambda line: line["receive_rate_bps"] > 0)
    receiver.send({"type": "bitrate", "min_bps": 200_000, "max_bps": 200_000})
    pinned = receiver.wait_for("remb", lambda line: line["bitrate_bps"] == 200_000)
    sender.wait_for(
        "stats",
        lambda line: (
            line["time_us"] > pinned["time_us"]
            and 0 < media(line["report"], "outbound-rtp").get("targetBitrate", 0) <= 200_000
        ),
    )
    assert (sender.stop(), receiver.stop()) == (0, 0)


def test_a_model_is_replaced_in_the_call(start_call, model, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(model.read_bytes()[:-100])
    sender, receiver = start_call((), ("--model", model))
    receiver.wait_for_state("connected")
    for path, member, said in (
        (tmp_path / "gone.onnx", "weir", "gone.onnx"),
        (tmp_path / "broken.onnx", "weir", "the model stays as it is"),
        (model, "weir:other", "this call has no controller weir:other"),
        (model, "nada", "a member with a model is weir or weir:FILE"),
    ):
        receiver.send({"type": "model", "path": str(path), "member": member})
        receiver.wait_for("error", lambda line, said=said: said in line["message"] and not line["fatal"])
    assert receiver.of_type("model") == []
    receiver.send({"type": "model", "path": str(model)})
    receiver.wait_for("model", lambda line: line["path"] == str(model) and line["member"] == "weir")
    replaced_us = receiver.of_type("model")[0]["time_us"]
    receiver.wait_for("estimate", lambda line: line["time_us"] > replaced_us + 500_000 and line["controller"] == "weir")
    sender.send({"type": "model", "path": str(model)})
    sender.wait_for("error", lambda line: "this call has no controller weir" in line["message"])
    assert (sender.stop(), receiver.stop()) == (0, 0)


def roles(line):
    return {member["name"]: member["role"] for member in line.get("pool", {}).get("members", [])}


@pytest.mark.parametrize("with_gcc", [False, True])
def test_a_pool_flies_a_call_and_takes_other_seats(start_call, model, with_gcc):
    gcc = ",gcc" if with_gcc else ""
    pool = f"pilot=weir copilots=nada{gcc} fusion=min"
    sender, receiver = start_call((), ("--controller", pool, "--model", model, "--remb-alone"))
    receiver.wait_for_state("connected")
    assert receiver.of_type("ready")[0]["pool"] == "pilot=weir copilots=nada fusion=min"
    # A GCC of the sender needs it.
    assert ("transport-cc" in receiver.of_type("answer")[0]["sdp"]) == with_gcc
    receiver.wait_for("estimate", lambda line: roles(line) == {"weir": "pilot", "nada": "copilot"})
    receiver.send({"type": "pool", "line": f"pilot=nada copilots=weir{gcc} fusion=min"})
    receiver.wait_for("estimate", lambda line: roles(line) == {"weir": "copilot", "nada": "pilot"})
    receiver.send({"type": "pool", "line": f"pilot=rule copilots=weir{gcc} fusion=min"})
    receiver.wait_for("error", lambda line: "the pool has no such member" in line["message"])
    receiver.send({"type": "pool", "line": "pilot=nada copilots=weir" + ("" if with_gcc else ",gcc") + " fusion=min"})
    receiver.wait_for("error", lambda line: "only before the call" in line["message"])
    assert (sender.stop(), receiver.stop()) == (0, 0)
