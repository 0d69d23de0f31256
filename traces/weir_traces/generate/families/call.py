"""Families of the call: the sender's clock, start, pauses, content, shared screens, competing TCP flows."""

from __future__ import annotations

from weir_traces.generate.families.family import Case, Family

CLOCK_PPM = (-1000, -500, -300, 0, 300, 500, 1000)
_CLOCK_IS_SET_AT_S = 20.0
AUDIO_ONLY_S = (20.0, 40.0)
AUDIO_PACKETS_PER_SECOND = (1, 50)
# 20 ms at 32 kbps.
_AUDIO_BYTES = 80
SCREEN_FRAMES_PER_SECOND = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
# Packets per second and bit/s of payload beside a screen: none but a keep-alive each 10 s, Opus with DTX, speech.
_SCREEN_AUDIO = {"silent": (0.1, 100.0), "dtx": (2.5, 1e3), "speech": (50.0, 32e3)}
_SCREEN_MAX_BPS = 2.5e6
START_RATES_BPS = (1e6, 3e6, 4e6, 10e6)
_TCP_STARTS_AT_S = 15.0
_TCP_STOPS_AT_S = 45.0
CONGESTION_CONTROLS = ("cubic", "newreno", "bbr")


def clock() -> Family:
    """The sender's clock is fast, slow or (as the baseline) right, in ppm; or it is set forwards or back by 100 ms."""
    words = {-1: "slow", 0: "right", 1: "fast"}
    cases = [
        Case(f"{words[(ppm > 0) - (ppm < 0)]}{abs(ppm) or ''}", flow={"sender_clock_ppm": float(ppm)})
        for ppm in CLOCK_PPM
    ]
    cases += [
        Case(name, flow={"sender_clock_steps": {"times_s": [_CLOCK_IS_SET_AT_S], "steps_ms": [step_ms]}})
        for name, step_ms in (("forwards100ms", 100.0), ("back100ms", -100.0))
    ]
    return Family("clock", "The sender's clock is wrong", cases)


def start() -> Family:
    """A call starts on an idle path, at 100 kbps or at its default 300 kbps; 20 s."""
    cases = [Case("300k"), Case("100k", flow={"start_rate_bps": 100e3})]
    return Family("start", "A call begins", cases, START_RATES_BPS, duration_s=20.0)


def mute() -> Family:
    """The call pauses and resumes; or only its video pauses, while audio sends 50 packets per second, or one (Opus with
    DTX).
    """
    pauses_s = {"5s": [[20.0, 25.0]], "10s": [[20.0, 30.0]], "20s": [[20.0, 40.0]],
                "often": [[15.0, 20.0], [25.0, 30.0], [35.0, 40.0]]}  # fmt: skip
    cases = [Case(name, flow={"pauses_s": pauses}) for name, pauses in pauses_s.items()]
    cases += [
        Case(
            f"audio{packets_per_second}",
            video={
                "video_pauses_s": [list(AUDIO_ONLY_S)],
                "audio_packets_per_second": float(packets_per_second),
                "audio_rate_bps": 8.0 * _AUDIO_BYTES * packets_per_second,
            },
            media=("video",),
        )
        for packets_per_second in AUDIO_PACKETS_PER_SECOND
    ]
    return Family("mute", "The call or its video pauses", cases)


def content() -> Family:
    """Video that at times needs less than the target, down to a half, a quarter or a tenth of it, also with an encoder
    that drops frames.
    """
    shares = {"half": 0.5, "quarter": 0.25, "tenth": 0.1}
    cases = [Case(name, video={"minimum_output_share": share}) for name, share in shares.items()]
    cases.append(Case("tenth-stalls", video={"minimum_output_share": 0.1, "stall_probability": 0.02}))
    return Family("content", "The content changes what video needs", cases, media=("video",))


def screens() -> Family:
    """A shared screen of few frames of many packets, with silent audio, DTX or speech, on 4 and 20 Mbps. At times it
    needs a twentieth of its target.
    """
    cases = [
        Case(
            f"{rate:g}fps-{audio}",
            video={
                "max_rate_bps": _SCREEN_MAX_BPS,
                "frames_per_second": rate,
                "minimum_output_share": 0.05,
                "key_frame_interval_s": 1000.0,
                "audio_packets_per_second": packets_per_second,
                "audio_rate_bps": audio_bps,
            },
        )
        for rate in SCREEN_FRAMES_PER_SECOND
        for audio, (packets_per_second, audio_bps) in _SCREEN_AUDIO.items()
    ]
    return Family("screens", "A screen is shared", cases, (4e6, 20e6), ("video",))


def tcp() -> Family:
    """One TCP flow starts after 15 s and stays, or stops after another 30 s; also on 5 Mbps."""
    cases = []
    for control in CONGESTION_CONTROLS:
        starts = {"kind": "tcp", "congestion_control": control, "start_s": _TCP_STARTS_AT_S}
        cases += [
            Case(f"{control}-stays", others=[starts]),
            Case(f"{control}-leaves", others=[starts | {"stop_s": _TCP_STOPS_AT_S}]),
        ]
    return Family("tcp", "A TCP flow starts later", cases, rates_bps=(1e6, 4e6, 5e6, 10e6))
