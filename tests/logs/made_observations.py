"""Logs of observed connections, as hosts write them."""

import json


def observation(second, **changes):
    return {
        "type": "observation", "time_us": 1_000_000 * second, "in_charge": "gcc", "other_bps": 1_000_000,
        "weir_bps": 1_000_000, "weir_reason": "controller", "received_bps": 900_000, "loss_ratio": 0.0,
        "queueing_delay_ms": 5.0, **changes,
    }  # fmt: skip


def write_log(folder, name, events, other="gcc"):
    head = {"type": "log", "begin_us": 0, "feedback": "transport-cc", "connection": name, "host": "sfu", "other": other}
    path = folder / f"{name}.observed.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in (head, *events)))
    return path
