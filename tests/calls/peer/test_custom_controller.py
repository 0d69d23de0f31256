"""A custom controller in a call between two peers: it decides, and when it dies the rule goes on."""

import json

import pytest

ANSWERS = """
while read -r line; do
  case $line in
    *'"type":"start"'*) echo '{"version":1}' ;;
    *) %s echo '{"target_bps":432100}' ;;
  esac
done"""
EITHER = ANSWERS % ""


def custom(script):
    return "--custom-controller", json.dumps({"name": "mine", "kind": "program", "command": ["/bin/sh", "-c", script]})


def test_it_decides(start_call):
    sender, receiver = start_call((), custom(EITHER))
    assert receiver.of_type("ready")[0]["active"] == "mine"
    estimate = receiver.wait_for("estimate", lambda line: line["target_rate_bps"] == 432_100)
    assert (estimate["controller"], estimate["reason"]) == ("mine", "controller")
    # Its feedback may be a throttled one, of the same rate.
    receiver.wait_for("remb", lambda line: abs(line["bitrate_bps"] - 432_100) < 1000)
    assert (sender.stop(), receiver.stop()) == (0, 0)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        ("exit 9", "it ended with status 9"),
        # The peer and the thread that waits for the answer have the same limit; either may be first to report it.
        ("exec sleep 1000", "answer"),
    ],
)
def test_when_it_fails_the_rule_goes_on_and_the_lines_say_so(start_call, tmp_path, failure, said):
    # The guard lets the rate rise as the sender follows, which takes as long as the machine needs.
    fails = tmp_path / "fails"
    sender, receiver = start_call((), custom(ANSWERS % f"[ ! -e {fails} ] || {failure};"))
    receiver.wait_for("estimate", lambda line: line["controller"] == "mine" and line["target_rate_bps"] == 432_100)
    fails.touch()
    error = receiver.wait_for("error")
    assert not error["fatal"]
    assert "the controller mine: " in error["message"]
    assert said in error["message"]
    fallen = receiver.wait_for("estimate", lambda line: line["controller"] == "fallback")
    receiver.wait_for("estimate", lambda line: line["time_us"] > fallen["time_us"] and line["receive_rate_bps"] > 0)
    assert (sender.stop(), receiver.stop()) == (0, 0)


def test_one_that_cannot_start_is_said_before_the_call(start_peer):
    peer = start_peer("--role", "receive", *custom("echo no weights >&2; exit 1"))
    assert peer.end() == 2
    assert "no weights" in peer.of_type("error")[0]["message"]
    assert peer.of_type("error")[0]["fatal"]


@pytest.mark.parametrize("text", ["mine", "{}", '{"name":"mine","kind":"program"}', '{"name":"mine","kind":"x"}'])
def test_a_specification_that_is_none_is_wrong_use(start_peer, text):
    peer = start_peer("--role", "receive", "--custom-controller", text)
    assert peer.end() == 2
    assert "--custom-controller" in peer.errors.decode()
