"""The facts of a freeze in words."""

from __future__ import annotations

from weir.console import counted
from weir.qoe_eval.dumps.freeze import Freeze
from weir.qoe_eval.dumps.freeze_facts import FreezeFacts

_LEAST_SHOWN_LOST = 0.001


def fact_texts(freeze: Freeze, facts: FreezeFacts, cause: str) -> list[str]:
    """One text a fact, at least one: the rate first, then the path, then both machines."""
    found = [*_rate_texts(freeze, facts, cause), *_path_texts(facts, cause), *_machine_texts(facts, cause)]
    if found and cause != "key frame":
        return found
    if facts.rate_kbps is None:
        return ["it had just begun", *found]
    went = "packets went out" if freeze.is_outgoing else "packets came"
    without = " without loss" if facts.lost == 0 else ""
    return [f"{went} at {facts.rate_kbps[1]:,.0f} kbps or more{without}", *found]


def seconds_text(value_s: float) -> str:
    """A duration, in minutes from one minute on."""
    return f"{value_s:,.1f} s" if value_s < 60 else f"{value_s / 60:,.1f} minutes"


def _rate_texts(freeze: Freeze, facts: FreezeFacts, cause: str) -> list[str]:
    found = []
    if facts.without_packets_s and facts.without_packets_s >= 0.5 * freeze.duration_s:
        of_any = " of any stream" if facts.others_came is False else ""
        others = " while other streams went on" if facts.others_came else ""
        went = "went out" if freeze.is_outgoing else "came"
        found.append(f"no packet{of_any} {went} for {seconds_text(facts.without_packets_s)}{others}")
    if facts.rate_kbps and facts.rate_fell and not (found and facts.rate_kbps[1] < 1):
        found.append(f"the rate fell from {_change(facts.rate_kbps)} kbps")
    if facts.target_kbps:
        found.append(f"the target of the sender’s encoder fell from {_change(facts.target_kbps)} kbps")
    if facts.available_kbps and facts.available_fell:
        found.append(f"the available bandwidth fell from {_change(facts.available_kbps)} kbps")
    elif facts.available_kbps and cause == "sender limit":
        found.append(f"{facts.available_kbps[1]:,.0f} kbps were available")
    return found


def _path_texts(facts: FreezeFacts, cause: str) -> list[str]:
    found = []
    if facts.lost and facts.lost >= _LEAST_SHOWN_LOST and cause != "sender stopped":
        found.append(f"{100 * facts.lost:.{0 if facts.lost >= 0.02 else 1}f} % of packets were lost")
    elif facts.nacks and cause == "loss":
        found.append(f"{counted(facts.nacks, 'NACK')} went to the sender")
    if facts.round_trip_ms:
        found.append(f"the round trip rose from {_change(facts.round_trip_ms)} ms")
    elif facts.jitter_ms:
        found.append(f"jitter rose from {_change(facts.jitter_ms)} ms")
    elif cause in ("sender limit", "sent less") and not facts.lost:
        found.append("nothing was lost" + (" and the round trip stayed" if facts.knows_path else ""))
    return found


def _machine_texts(facts: FreezeFacts, cause: str) -> list[str]:
    found = []
    if facts.undecoded:
        found.append(f"{facts.undecoded:,} frames that came were not decoded")
    if facts.decode_ms:
        found.append(f"decoding a frame took {facts.decode_ms[1]:.0f} ms, before {facts.decode_ms[0]:.0f}")
    if facts.encoded_per_s and not facts.rate_fell:
        found.append("the sender encoded {1:.0f} frames a second, before {0:.0f}".format(*facts.encoded_per_s))
    if facts.limited_by and not (cause == "sender limit" and facts.limited_by == "bandwidth"):
        found.append(f"the sender’s quality was limited by {facts.limited_by}")
    if facts.own_cpu and cause == "cpu" and not facts.limited_by:
        found.append("the video that it sends was limited by cpu, too")
    if facts.key_frames_requested and cause in ("key frame", "loss"):
        found.append(f"{counted(facts.key_frames_requested, 'key frame')} requested")
    if facts.heights:
        with_key_frame = " with a key frame" if facts.key_frames and cause == "resolution" else ""
        found.append(f"the picture went from {facts.heights[0]:.0f} to {facts.heights[1]:.0f} lines{with_key_frame}")
    if facts.reports_gap_s:
        found.append(f"the browser made no report for {seconds_text(facts.reports_gap_s)}")
    return found


def _change(values: tuple[float, float]) -> str:
    return f"{values[0]:,.0f} to {values[1]:,.0f}"
