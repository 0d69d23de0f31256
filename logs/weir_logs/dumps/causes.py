"""The likely cause of a freeze."""

from __future__ import annotations

from weir_logs.dumps.freeze_facts import FreezeFacts

CAUSES = {
    "network stopped": "likely the network stopped",
    "path slowed": "likely the path became slower",
    "loss": "likely loss on the path",
    "key frame": "likely it waited for a key frame",
    "cpu": "likely this machine is short of CPU",
    "sender cpu": "likely the sender is short of CPU",
    "sender limit": "likely the sender’s own limit",
    "sent less": "likely the sender sent less: its own limit, or its path to a server",
    "sender stopped": "likely the sender, or a server between, stopped sending it",
    "source stopped": "its camera or screen gave no frames",
    "muted": "likely it was muted, or removed by its page",
    "ended": "the call ended, or the network did",
    "browser busy": "likely the browser or page was busy",
    "resolution": "likely it waited for the first frame of another resolution",
    "unknown": "the dump does not have why",
}
"""The causes and their texts in a sentence."""

_LOST = 0.01
# An estimate this far above the encoder's target does not limit it.
_FREE = 1.5
_MANY_NACKS = 5
# A key frame that is delayed by loss arrives after fewer requests.
_MANY_KEY_FRAMES = 5


def likely_cause(facts: FreezeFacts) -> str:
    """The most likely cause, a key of CAUSES: that of the first rule that holds."""
    out, slowed, is_dry = facts.is_outgoing, facts.is_slowed, facts.is_dry
    lost = (facts.lost or 0.0) >= _LOST
    target, available = facts.target_kbps, facts.available_kbps
    has_room = target is not None and available is not None and available[1] > _FREE * target[1]
    # Firefox has no target.
    sent_less = out and facts.rate_fell and available is not None and available[1] > _FREE * facts.rate_kbps[1]
    rules = (
        (facts.source_stopped, "source stopped"),
        (is_dry and facts.is_open and facts.others_came is False and not slowed, "ended"),
        (facts.limited_by == "cpu" and not slowed, "cpu" if out else "sender cpu"),
        (has_room and not slowed and not lost, "sender limit"),
        (out and is_dry and not facts.limited_by and not facts.available_fell, "muted"),
        (not out and is_dry and facts.path_worked, "sender stopped"),
        (not out and is_dry, "network stopped"),
        (facts.decode_ms is not None, "cpu"),
        (facts.undecoded > 0 and not lost and not slowed and not facts.key_frames_requested, "cpu"),
        (slowed, "path slowed"),
        (lost, "loss"),
        (facts.limited_by == "bandwidth" or (out and facts.available_fell), "path slowed"),
        (facts.key_frames_requested >= _MANY_KEY_FRAMES, "key frame"),
        (facts.nacks >= _MANY_NACKS, "loss"),
        (facts.own_cpu, "cpu"),
        (facts.key_frames_requested > 0, "key frame"),
        (facts.was_busy, "browser busy"),
        (facts.encoded_per_s is not None or sent_less, "sender limit"),
        (not out and facts.rate_fell and facts.knows_path, "sent less"),
        (facts.heights is not None, "resolution"),
    )
    return next((cause for holds, cause in rules if holds), "unknown")
