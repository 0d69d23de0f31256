#!/usr/bin/env python3
"""Stands in for weir-sim in tests of what surrounds it: answers jobs with made-up but consistent records.

The environment variable FAKE_WEIR_SIM holds JSON {"CONTROLLER:SEED": "die" | "die quietly" | "hang" | "interrupt
parent" | "terminate parent" | "refuse" | "nonsense"}; the key "*" is for every run, "version" for --version. With
FAKE_WEIR_SIM_PIDS, every process adds its process id to that file.
"""

import json
import math
import os
import random
import signal
import sys
import time
from bisect import bisect_right

BEHAVIOUR = json.loads(os.environ.get("FAKE_WEIR_SIM", "{}"))
TO_PARENT = {"interrupt parent": signal.SIGINT, "terminate parent": signal.SIGTERM}
# How much of the capacity a controller takes, and how much of the queue it fills.
CHARACTER = {
    "weir": (0.88, 0.10), "gcc": (0.62, 0.35), "gcc-remb": (0.55, 0.30), "pcc": (0.7, 0.6), "nada": (0.74, 0.18),
    "rule": (0.86, 0.22), "fixed": (0.5, 0.0), "oracle": (0.96, 0.02),
}  # fmt: skip


def capacity_at(capacity, time_s):
    """Rate in bps of a scenario's capacity."""
    if capacity["period_s"]:
        ends_s = [*capacity["times_s"][1:], capacity["period_s"]]
        if capacity["period_s"] <= 0.1:
            # Slots: each sample has them all.
            held = zip(capacity["times_s"], ends_s, capacity["rates_bps"], strict=True)
            return sum((end - start) * rate for start, end, rate in held) / capacity["period_s"]
        time_s %= capacity["period_s"]
    return capacity["rates_bps"][bisect_right(capacity["times_s"], time_s) - 1]


def mean_delay(delay_ms):
    """A link's one-way delay in ms; of one that changes the mean of its values."""
    if isinstance(delay_ms, dict):
        return sum(delay_ms["values_ms"]) / len(delay_ms["values_ms"])
    return delay_ms


def make_record(job):
    scenario, controller, seed = job["scenario"], job["controller"], job["seed"]
    share, fill = CHARACTER.get(controller, (0.6, 0.2))
    if controller == "weir":
        # Steered: more weight on throughput, more throughput and more delay.
        share, fill = share + 0.2 * (job["objective"][0] - 0.4), fill + 0.2 * (job["objective"][0] - 0.4)
    chance = random.Random(f"{scenario['name']} {controller} {seed}")
    link = scenario["forward"]
    base_ms = mean_delay(link["one_way_delay_ms"])
    samples = round(scenario["duration_s"] * 10)
    capacity = [capacity_at(link["capacity"], i / 10) for i in range(samples)]
    mean_capacity = sum(capacity) / samples
    room = (job.get("call") or {}).get("room")
    flows = []
    for flow in scenario["flows"]:
        name = controller if flow["kind"] == "rtp" and flow["controller"] == "under_test" else flow.get("controller")
        start, stop = flow["start_s"], flow["stop_s"] or scenario["duration_s"]
        active = [start <= i / 10 < stop for i in range(samples)]
        level = share / len(scenario["flows"])
        target, rate, delay, lost = [], [], [], []
        smooth = 300e3
        for i in range(samples):
            wanted = capacity[i] * level * (1 + 0.06 * math.sin(i / 17 + seed) + chance.gauss(0, 0.02))
            smooth += (wanted - smooth) * (0.2 if controller == "weir" else 0.04)
            got = min(smooth, capacity[i]) if active[i] else 0.0
            over = max(0.0, smooth / max(capacity[i], 1) - level)
            target.append(smooth if active[i] else 0.0)
            rate.append(got)
            queueing = 300 * min(1.0, fill * (0.5 + chance.random()) + over)
            delay.append(base_ms + queueing if got > 0 else None)
            lost.append(int(over > 0.9) * chance.randrange(5) if got > 0 else 0)
        # Ten frames a second, each with all that was received in its time and the delay of its time.
        seen = [(i * 100_000, delay[i], rate[i]) for i in range(samples) if active[i]]
        frames = {
            "capture_time_us": [time_us for time_us, _, _ in seen],
            "complete_time_us": [None if d is None else time_us + round(1000 * d) for time_us, d, _ in seen],
            "bytes": [round(got / 80) for _, _, got in seen],
        }
        frames["rendered_time_us"] = frames["complete_time_us"]
        frames["sent_time_us"] = frames["capture_time_us"]
        frames["lip_sync_us"] = [0] * len(seen)
        arrived = sorted(value for value in delay if value is not None)
        achievable = sum(c for c, on in zip(capacity, active, strict=True) if on) / 80
        received = sum(rate) / 80
        packets = int(received / 1228)
        own_model = (job.get("custom") or {}).get("kind") == "policy"
        receiver_side = own_model or name in ("weir", "nada", "rule", "fixed", "oracle")
        flows.append(
            {
                "id": flow["id"], "kind": flow["kind"], "controller": name, "direction": flow["direction"],
                "start_s": start, "stop_s": stop, "base_one_way_delay_ms": base_ms,
                "packets_sent": packets + sum(lost), "bytes_sent": int(received), "packets_received": packets,
                "bytes_received": int(received), "packets_lost": sum(lost), "achievable_bytes": int(achievable),
                "one_way_delay_ms": {
                    "mean": sum(arrived) / len(arrived), "max": arrived[-1],
                    **{f"p{rank}": arrived[len(arrived) * rank // 100] for rank in (5, 50, 95, 99)},
                },
                "seconds_above_400_ms": sum(value > 400 for value in arrived) / 10,
                "feedback_packets_sent": samples, "feedback_packets_lost": 0,
                **({"guard": {"finite": 0, "bounds": 2, "slew": 5 * (controller == "weir"), "stale": 1,
                              "floor": 0, "veto": 0, "policer": 0},
                    "estimator": {"decisions": samples, "faults": 0, "fallback_decisions": 0}}
                   if receiver_side else {}),
                **({"pool": {"pilot_changes": 1, "first_pilot_held_s": 2.5,
                             "members": [{"name": "pilot", "pilot_share": 0.25}]}}
                   if "pilot=" in controller else {}),
                "series": {"target_bps": target, "send_rate_bps": rate, "receive_rate_bps": rate,
                           "one_way_delay_mean_ms": delay, "one_way_delay_p95_ms": delay, "packets_lost": lost,
                           "frames": frames},
            }
        )  # fmt: skip
        if room:
            seconds = samples // 10
            flows[-1]["room"] = {
                "streams": room["cameras"] + room["screens"], "fitting_bps": [500_000] * seconds,
                "forwarded_bps": [round(500_000 * share)] * (seconds - 1) + [500_000], "layers_lowered": seed,
                "frozen_share": fill / 10, "end_to_end_delay_ms_p95": 100.0 + base_ms,
            }  # fmt: skip
    return {
        "schema": "weir.result/1", "job": job["job"], "scenario": scenario["name"], "controller": controller,
        "objective": job["objective"], "seed": seed, "versions": {"weir": "0.0", "ns3": "none"},
        "duration_s": scenario["duration_s"],
        "path": {"one_way_delay_ms": base_ms, "mean_capacity_bps": mean_capacity,
                 "queue_bytes": int(mean_capacity * 0.3 / 8)},
        "flows": flows, "series": {"interval_s": 0.1, "capacity_bps": capacity, "queueing_delay_ms": [0.0] * samples},
    }  # fmt: skip


def main():
    if "--version" in sys.argv:
        if "version" in BEHAVIOUR:
            sys.exit("weir-sim: error while loading shared libraries: libns3.so")
        print(json.dumps({"weir": "0.0", "ns3": "none", "libwebrtc": "150.0"}))
        return
    if "FAKE_WEIR_SIM_PIDS" in os.environ:
        with open(os.environ["FAKE_WEIR_SIM_PIDS"], "a") as file:
            file.write(f"{os.getpid()}\n")
    for line in sys.stdin:
        job = json.loads(line)
        act = BEHAVIOUR.get(f"{job['controller']}:{job['seed']}", BEHAVIOUR.get("*"))
        if act == "die":
            sys.stderr.write("weir-sim: assertion failed: queue.size() >= 0\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGABRT)
        if act == "die quietly":
            os._exit(7)
        if act in TO_PARENT:
            os.kill(os.getppid(), TO_PARENT[act])
        if act == "hang" or act in TO_PARENT:
            time.sleep(600)
        if act == "refuse":
            print(json.dumps({"job": job["job"], "error": "model bad.onnx: weir.schema is 9, not 1"}), flush=True)
        elif act == "nonsense":
            print("[1, 2", flush=True)
        else:
            print(json.dumps(make_record(job)), flush=True)


if __name__ == "__main__":
    main()
