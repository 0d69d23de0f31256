"""How a peer ends: on its own, when the other end dies, when it is used wrongly; and how it answers a browser."""

import signal
import time

import pytest


@pytest.fixture(scope="module", autouse=True)
def abandoned(start_call):
    """The receiver of a call whose sender was killed. It notices after 15 s, in which the other tests run."""
    sender, receiver = start_call()
    receiver.wait_for("estimate", lambda line: line["receive_rate_bps"] > 0)
    sender.process.kill()
    return receiver


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--role is required"),
        (["--role", "watch"], "send or receive"),
        (["--role", "send", "--colour", "red"], "no option --colour"),
        (["--role", "send", "--codec"], "--codec needs a value"),
        (["--role", "send", "--codec", "MPEG2"], "VP8,VP9"),
        (["--role", "send", "--max-bitrate-bps", "2Mbps"], "whole number, 1000 to 1000000000"),
        (["--role", "send", "--min-bitrate-bps", "500000"], "min <= start <= max"),
        (["--role", "send", "--pattern", "641x360@30"], "even sizes"),
        (["--role", "receive", "--objective", "1,2"], "three weights"),
        (["--role", "receive", "--frames", "x.y4m"], "requires --frames-size"),
        (["--role", "send", "--video", "/dev/null"], "no YUV4MPEG2 file"),
        (["--role", "send", "--audio-file", "/nowhere.wav"], "cannot read the audio /nowhere.wav"),
        (["--role", "receive", "--bind-address", "192.0.2.77"], "no interface has this address"),
        (["--role", "receive", "--bind-address", "localhost"], "IPv4 address"),
    ],
)
def test_wrong_use_is_named_and_ends_with_status_2(start_peer, arguments, message):
    peer = start_peer(*arguments)
    assert peer.end() == 2
    assert message in peer.errors.decode()
    assert peer.not_json == []


def test_missing_model_ends_with_status_3(start_peer):
    peer = start_peer("--role", "receive", "--model", "/nowhere/weir.onnx")
    assert peer.end() == 3
    assert "/nowhere/weir.onnx" in peer.of_type("error")[0]["message"]
    assert peer.of_type("error")[0]["fatal"]


def test_bad_model_falls_back_to_the_rule(start_peer, tmp_path):
    model = tmp_path / "bad.onnx"
    model.write_bytes(b"not a model")
    peer = start_peer("--role", "receive", "--model", model)
    assert peer.wait_for("ready")["active"] == "rule"
    assert not peer.of_type("error")[0]["fatal"]
    assert peer.stop() == 0


def test_end_of_input_and_signals_stop(start_peer):
    peers = [start_peer("--role", "receive") for _ in range(3)]
    for peer in peers:
        peer.wait_for("ready")
    # A last line needs no end.
    peers[0].send_raw(b'{"type": "dance"}')
    peers[0].process.stdin.close()
    peers[1].process.send_signal(signal.SIGTERM)
    peers[2].process.send_signal(signal.SIGINT)
    assert [peer.end() for peer in peers] == [0, 0, 0]
    assert "no type" in peers[0].of_type("error")[0]["message"]


def test_pause_of_five_seconds_is_survived(start_call):
    sender, receiver = start_call()
    receiver.wait_for("estimate", lambda line: line["receive_rate_bps"] > 0)
    sender.process.send_signal(signal.SIGSTOP)
    stopped_us = receiver.of_type("estimate")[-1]["time_us"]
    receiver.wait_for("stats", lambda line: line["time_us"] > stopped_us + 5_500_000)
    sender.process.send_signal(signal.SIGCONT)
    now_us = time.monotonic_ns() // 1000
    receiver.wait_for("estimate", lambda line: line["time_us"] > now_us and line["receive_rate_bps"] > 0)
    assert (sender.stop(), receiver.stop()) == (0, 0)


def offer_of(start_peer):
    sender = start_peer("--role", "send")
    sender.wait_for("ready")
    sender.send({"type": "start"})
    return sender.wait_for("offer")["sdp"]


@pytest.mark.parametrize(("remb_alone", "start_kbps"), [(False, 1000), (True, 20000)])
def test_answer_to_a_browser_makes_it_obey_remb(start_peer, remb_alone, start_kbps):
    offer = offer_of(start_peer)
    assert "a=tool:weir-peer\r\n" in offer
    receiver = start_peer("--role", "receive", *(["--remb-alone"] if remb_alone else []))
    receiver.send({"type": "offer", "sdp": offer.replace("a=tool:weir-peer\r\n", "")})
    answer = receiver.wait_for("answer")["sdp"]
    assert ("transport-cc" in answer) == ("transport-wide-cc" in answer) == (not remb_alone)
    assert "goog-remb" in answer
    assert "abs-send-time" in answer
    assert "a=setup:passive" in answer
    video = answer[answer.index("m=video") :].splitlines()
    first = video[0].split()[3]
    assert f"a=rtpmap:{first} VP8/90000" in video
    assert f"a=fmtp:{first} x-google-max-bitrate=20000;x-google-start-bitrate={start_kbps}" in video


def test_answer_to_a_peer_leaves_its_start_rate(start_peer):
    offer = offer_of(start_peer)
    receiver = start_peer("--role", "receive")
    receiver.send({"type": "offer", "sdp": offer})
    assert "x-google" not in receiver.wait_for("answer")["sdp"]


def test_candidates_are_of_the_bound_address_only(start_peer):
    peer = start_peer("--role", "send", "--bind-address", "127.0.0.1")
    peer.send({"type": "start"})
    peer.wait_for("candidate")
    peer.wait_for("stats", lambda line: any(one["type"] == "local-candidate" for one in line["report"]))
    candidates = [line["candidate"].split() for line in peer.of_type("candidate")]
    assert {(x[2].lower(), x[4], x[7]) for x in candidates} == {("udp", "127.0.0.1", "host")}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"type": "answer", "sdp": "v=0"}, "does not match the state"),
        ({"type": "offer", "sdp": "rubbish"}, "offer: "),
        ({"type": "candidate", "candidate": "rubbish", "sdpMid": "0"}, "candidate: "),
        ({"type": "controller", "name": "magic"}, "weir, gcc or shadow"),
        ({"type": "bitrate", "min_bps": 5, "max_bps": 4}, "min <= start <= max"),
        ({"type": "dance"}, "no type"),
    ],
)
def test_what_cannot_be_done_is_answered(start_peer, line, message):
    peer = start_peer("--role", "receive")
    peer.send(line)
    assert message in peer.wait_for("error")["message"]
    assert peer.stop() == 0


def test_killed_other_end_is_noticed(abandoned):
    assert abandoned.end() == 1
    assert abandoned.of_type("error")[-1]["fatal"]
    assert abandoned.lines[-1]["type"] == "end"
    assert "connection" in abandoned.lines[-1]["reason"]
