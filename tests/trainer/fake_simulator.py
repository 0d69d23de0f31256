#!/usr/bin/env python3
"""A stand-in for `weir-sim serve` that misbehaves as its scenario's name asks; a fluid queue otherwise."""

import json
import os
import signal
import struct
import sys
import time

STEP_FIELDS = [
    "time_s", "capacity_bps", "achievable_bps", "fair_share_bps", "send_rate_bps", "receive_rate_bps",
    "one_way_delay_mean_ms", "one_way_delay_p95_ms", "base_one_way_delay_ms", "queueing_delay_ms", "loss_ratio",
    "packets_received", "target_bps", "future_capacity_bps", "optimal_bps",
]  # fmt: skip


def read(count):
    data = b""
    while len(data) < count:
        part = os.read(0, count - len(data))
        if not part:
            sys.exit(0)
        data += part
    return data


def write(kind, payload):
    os.write(1, struct.pack("<IB", len(payload), ord(kind)) + payload)


def misbehave(name):
    if name == "hang":
        time.sleep(3600)
    if name == "exit":
        print("weir-sim: out of cheese", file=sys.stderr, flush=True)
        sys.exit(7)
    if name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "garbage":
        os.write(1, b"Hello, this is not a frame at all, whatever its length.")
        time.sleep(3600)
    if name == "half":
        os.write(1, struct.pack("<IBB", 4000, ord("O"), 0))
        time.sleep(3600)


def observe(request, records, step, flags):
    history = request["history"]
    rows = (records + [records[-1]] * history)[:history]
    values = [row.get(name, 0.0) for row in rows for name in request["features"]]
    if request["scenario"]["name"] == "not-a-number":
        values[0] = float("nan")
    packets = struct.pack("<I", 0) if request.get("packets") else b""
    write("O", struct.pack(f"<B{len(values)}f{len(step)}d", flags, *values, *step) + packets)


def rate_of(request, action):
    specification = request["action"]
    if specification["kind"] == "rate_bps":
        return action
    low, high = specification["min_bps"], specification["max_bps"]
    return low * (high / low) ** ((action + 1) / 2)


def main():
    request, records, now, queue_bits = None, [], 0.0, 0.0
    while True:
        length, kind = struct.unpack("<IB", read(5))
        payload = read(length)
        if kind == ord("R"):
            request = json.loads(payload)
            name = request["scenario"]["name"]
            if name.endswith("-at-reset"):
                misbehave(name.removesuffix("-at-reset"))
            if name == "refused":
                write("E", b"flows: at least one")
                continue
            now, queue_bits = 0.0, 0.0
            # An interval without packets, then the first one.
            records, rate = [{"last_estimate_bps": 300000.0}], 300000.0
            description = {
                "observation_size": len(request["features"]) * request["history"],
                "step_fields": STEP_FIELDS,
            }
            write("C", json.dumps(description).encode())
        else:
            misbehave(request["scenario"]["name"])
            rate = rate_of(request, struct.unpack_from("<f", payload)[0])
        capacity = request["scenario"]["forward"]["capacity"]["rates_bps"][0] * (1 + 0.1 * (request["seed"] % 7))
        interval = request["interval_ms"] / 1000
        now += interval
        backlog = queue_bits + rate * interval
        carried = min(backlog, capacity * interval)
        queue_bits = min(backlog - carried, 0.3 * capacity)
        delay = 25 + queue_bits / capacity * 1000
        received = carried / interval
        queueing = (delay - 25) / 1000
        records.insert(
            0,
            {
                "receive_rate_bps": received,
                "queueing_delay_min_s": queueing,
                "queueing_delay_mean_s": queueing,
                "packets_received": carried / 9600,
                "last_estimate_bps": rate,
            },
        )
        step = [
            now,
            capacity,
            capacity,
            capacity,
            rate,
            received,
            delay,
            delay,
            25,
            delay - 25,
            0,
            carried / 9600,
            rate,
            capacity,
            max(0.0, 0.96 * capacity - queue_bits / 0.05),
        ]
        observe(request, records, step, 2 if now >= request["scenario"]["duration_s"] - 1e-9 else 0)


if sys.argv[1:] == ["--version"]:
    print(json.dumps({"weir": "0.1.0", "ns3": "3.37", "libwebrtc": "150"}))
else:
    main()
