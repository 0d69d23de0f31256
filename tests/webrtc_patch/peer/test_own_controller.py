"""A controller of a user's own in a call between two peers: it decides, and when it dies the rule goes on."""

import json

import pytest

START = "read a; echo '{\"version\":1}'; "
# Every start and every decision.
EITHER = "while read a; do case $a in *start*) echo '{\"version\":1}';; *) echo '{\"target_bps\":432100}';; esac; done"


def own(script):
    return "--own-controller", json.dumps({"name": "mine", "kind": "program", "command": ["/bin/sh", "-c", script]})


def test_it_decides(start_call):
    sender, receiver = start_call((), own(EITHER))
    assert receiver.of_type("ready")[0]["active"] == "mine"
    estimate = receiver.wait_for("estimate", lambda line: line["target_rate_bps"] == 432_100)
    assert (estimate["controller"], estimate["reason"]) == ("mine", "controller")
    # Its feedback may be a throttled one, of the same rate.
    receiver.wait_for("remb", lambda line: abs(line["bitrate_bps"] - 432_100) < 1000)
    assert (sender.stop(), receiver.stop()) == (0, 0)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("n=0; while read a; do n=$((n+1)); [ $n -lt 20 ] || exit 9; echo '{\"target_bps\":432100}'; done", "status 9"),
        ("n=0; while read a; do n=$((n+1)); echo '{\"target_bps\":432100}'; [ $n -lt 20 ] || sleep 1000; done", "time"),
    ],
)
def test_when_it_fails_the_rule_goes_on_and_the_lines_say_so(start_call, script, said):
    # Whatever started it first, for a trial, has read one line.
    sender, receiver = start_call((), own(START + "read a; echo '{\"version\":1}'; " + script))
    receiver.wait_for("estimate", lambda line: line["controller"] == "mine" and line["target_rate_bps"] == 432_100)
    error = receiver.wait_for("error")
    assert not error["fatal"]
    assert "the controller mine: " in error["message"]
    assert said in error["message"]
    fallen = receiver.wait_for("estimate", lambda line: line["controller"] == "fallback")
    receiver.wait_for("estimate", lambda line: line["time_us"] > fallen["time_us"] and line["receive_rate_bps"] > 0)
    assert (sender.stop(), receiver.stop()) == (0, 0)


def test_one_that_cannot_start_is_said_before_the_call(start_peer):
    peer = start_peer("--role", "receive", *own("echo no weights >&2; exit 1"))
    assert peer.end() == 2
    assert "no weights" in peer.of_type("error")[0]["message"]
    assert peer.of_type("error")[0]["fatal"]


@pytest.mark.parametrize("text", ["mine", "{}", '{"name":"mine","kind":"program"}', '{"name":"mine","kind":"x"}'])
def test_a_specification_that_is_none_is_wrong_use(start_peer, text):
    peer = start_peer("--role", "receive", "--own-controller", text)
    assert peer.end() == 2
    assert "--own-controller" in peer.errors.decode()
