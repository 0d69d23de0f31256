"""Grids over single impairments of `natural_domain`, up to the limits of real networks and devices."""

from __future__ import annotations

from collections.abc import Callable

from weir_traces.generate.families.call import AUDIO_ONLY_S
from weir_traces.generate.families.family import Case, Family, Fields, forward_with
from weir_traces.generate.families.path import bursts, slotted, spikes, truncated_gaussian, uniform
from weir_traces.generate.random_flows import DTX

JITTER_MS = (20.0, 60.0, 120.0, 200.0)
CONTENT_SHARES = (1.0, 0.3)
CLOCK_PPM = (-3000, -1700, -700, -300, 0, 300, 700, 1700, 3000)
ROUND_TRIPS_MS = (300.0, 600.0, 1000.0)
SCREEN_FRAMES_PER_SECOND = (5.0, 8.0, 15.0)
TURNS_MS = ((100, 100), (200, 100), (100, 200), (500, 500))
STOPS_MS = (200, 300)


def natural_grids() -> dict[str, Family]:
    """The grids by name."""
    return {family.name: family for family in (_jitter(), _clock(), _long_round_trip(), _screen(), _interrupted())}


def _jitter() -> Family:
    """Four kinds of jitter with a maximum, with content that needs all of its target or less."""
    kinds: dict[str, Callable[[float], Fields]] = {
        "gaussian": lambda ms: truncated_gaussian(ms / 3),
        "uniform": uniform,
        "slotted": slotted,
        "spikes": lambda ms: spikes(1.0, ms / 2, ms),
    }
    cases = [
        Case(
            f"{kind}{ms:g}-content{round(100 * share)}",
            forward_with(jitter=make(ms)),
            video={"minimum_output_share": share},
        )
        for kind, make in kinds.items()
        for ms in JITTER_MS
        for share in CONTENT_SHARES
    ]
    return Family("jitter", "Jitter of 20 to 200 ms", cases, (300e3, 1e6, 3e6, 10e6), ("video",))


def _clock() -> Family:
    """The sender's clock is wrong by up to 3000 ppm, or right as the baseline."""
    cases = [Case(f"{ppm:+d}ppm", flow={"sender_clock_ppm": float(ppm)}) for ppm in CLOCK_PPM]
    return Family("clock", "The sender's clock is wrong", cases, (1e6, 4e6))


def _long_round_trip() -> Family:
    """A long round trip with a short queue, limited in time or in packets."""
    queues = {"6packets": {"packets": 6}, "20packets": {"packets": 20}, "86ms": {"milliseconds": 86.0},
              "300ms": {"milliseconds": 300.0}}  # fmt: skip
    cases = [
        Case(f"{round_trip_ms:g}ms-queue{name}", forward_with(one_way_delay_ms=round_trip_ms / 2, queue=queue))
        for round_trip_ms in ROUND_TRIPS_MS
        for name, queue in queues.items()
    ]
    return Family("round", "Long round trips with short queues", cases, (1e6, 4e6), ("video",))


def _screen() -> Family:
    """A shared screen, in some cases paused, with continuous audio or with DTX."""
    pauses: Fields = {"video_pauses_s": [list(AUDIO_ONLY_S)]}
    beside: dict[str, Fields] = {"": {}, "-pause": pauses, "-dtx": {**pauses, **DTX}}
    cases = [
        Case(
            f"{rate:g}fps{name}",
            video={"frames_per_second": rate, "minimum_output_share": 0.1, "stall_probability": 0.05, **more},
        )
        for rate in SCREEN_FRAMES_PER_SECOND
        for name, more in beside.items()
    ]
    return Family("screen", "A screen is shared", cases, (1e6, 4e6), ("video",))


def _interrupted() -> Family:
    """A link that serves others in turn, with the family's rate as its mean, or stops every 5 s, with a short queue."""
    deep: Fields = {"milliseconds": 500.0}
    short: Fields = {"packets": 15}
    cases = [
        *(Case(f"{work}ms-of-{work + stop}ms", bursts(work / 1e3, (work + stop) / 1e3, queue=deep))
          for work, stop in TURNS_MS),
        *(Case(f"stops-{stop}ms", bursts((5000 - stop) / 1e3, 5.0, 1.0, queue=short)) for stop in STOPS_MS),
    ]  # fmt: skip
    return Family("interrupted", "The link stops for a moment, again and again", cases, (1e6, 3e6), ("video",))
