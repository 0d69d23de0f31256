#!/usr/bin/env python3
"""Stands in for weir-peer in tests of what surrounds it: speaks its messages, sends no media.

The environment variable FAKE_WEIR_PEER holds JSON {"send" or "receive": BEHAVIOUR}: "die at start", "missing model",
"escape", "never ready", "never connects", "nonsense", "die in call", "fail in call", "ignore stop", "long line". Orders
that it hears go to the file that FAKE_WEIR_PEER_HEARD names.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time

_output = threading.Lock()


def say(kind, **fields):
    with _output:
        sys.stdout.write(json.dumps({"type": kind, "time_us": time.monotonic_ns() // 1000} | fields) + "\n")
        sys.stdout.flush()


def in_call(role, behaviour):
    if behaviour == "never connects":
        return
    say("state", state="connecting")
    say("state", state="connected")
    if behaviour == "die in call":
        os.kill(os.getpid(), signal.SIGKILL)
    if behaviour == "fail in call":
        say("error", message="the connection was lost", fatal=True)
        os._exit(1)
    while True:
        say("stats", report=[{"id": "T1", "type": "transport", "timestamp": 0.0}])
        if role == "receive":
            say("estimate", target_rate_bps=1000000, reason="controller", in_charge=True)
            say("remb", bitrate_bps=1000000)
        time.sleep(0.1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--role")
    arguments, _ = parser.parse_known_args()
    role = arguments.role
    behaviour = json.loads(os.environ.get("FAKE_WEIR_PEER", "{}")).get(role)
    if behaviour == "die at start":
        sys.exit("weir-peer: no codec of that name")
    if behaviour == "escape":
        sys.exit("weir-peer: \x1b[2Jgone")
    if behaviour == "missing model":
        say("error", message="m.onnx: no such file", fatal=True)
        sys.exit(3)
    if behaviour == "never ready":
        time.sleep(60)
    if behaviour == "long line":
        sys.stdout.write("x" * (8 << 20) + "\n")
        sys.stdout.flush()
        time.sleep(60)
    say("ready", versions={"weir": "0.0"}, controller="weir")
    orders_log = os.environ.get("FAKE_WEIR_PEER_HEARD")
    for line in sys.stdin:
        order = json.loads(line)
        if orders_log:
            with open(orders_log, "a") as file:
                file.write(json.dumps({"role": role} | order) + "\n")
        if order["type"] == "start":
            say("offer", sdp=os.environ.get("FAKE_WEIR_PEER_OFFER", "v=0 offer"))
            say("candidate", candidate="candidate:1", sdpMid="0", sdpMLineIndex=0)
        elif order["type"] == "offer":
            if behaviour == "nonsense":
                sys.stdout.write("this is no message\n")
                sys.stdout.flush()
                continue
            say("answer", sdp="v=0 answer")
            threading.Thread(target=in_call, args=(role, behaviour), daemon=True).start()
        elif order["type"] == "answer":
            threading.Thread(target=in_call, args=(role, behaviour), daemon=True).start()
        elif order["type"] == "model":
            say("model", path=order["path"], member="weir")
        elif order["type"] == "stop" and behaviour != "ignore stop":
            break
    if behaviour == "ignore stop":
        time.sleep(60)
    say("end", reason="stopped")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
