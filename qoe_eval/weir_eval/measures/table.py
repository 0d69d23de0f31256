"""The table of all measures of replays and calls: name, label, unit, direction, precision and meaning of each.

Names are those in `results.jsonl`; summaries, tables, pages and CSV files take everything else from this table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["replay", "call"]
_BOTH: tuple[Kind, ...] = ("replay", "call")
_CALL: tuple[Kind, ...] = ("call",)
_SCALED_UNITS = {"%": "ratio", "%/s": "ratio per s", "kbps": "bit/s", "per 100 decisions": "per decision"}
"""The units of values in records, by the unit of display, of measures that have a scale."""


@dataclass(frozen=True)
class Measure:
    """One quality measure.

    `scale` multiplies a value for display (0.01 in a record is "1 %" on the page); `decimals` is the display precision.
    `over_flows`: how the flows under test of a run are aggregated, `worst` for extremes, in the sense of `better`.
    `kinds`: the records that have the measure; `weir_calls` computes those of calls.
    """

    name: str
    label: str
    unit: str
    better: Literal["higher", "lower"]
    meaning: str
    scale: float = 1.0
    decimals: int = 1
    over_flows: Literal["mean", "worst"] = "mean"
    kinds: tuple[Kind, ...] = ("replay",)

    @property
    def title(self) -> str:
        """Label and unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    @property
    def value_unit(self) -> str:
        """The unit of values in records and summaries, which are not scaled; empty for counts and indices."""
        return self.unit if self.scale == 1 else _SCALED_UNITS[self.unit]

    @property
    def arrow(self) -> str:
        """The better direction."""
        return "↑" if self.better == "higher" else "↓"

    def best(self, values: Iterable[float]) -> float:
        """The best of `values`, which must not be empty."""
        return max(values) if self.better == "higher" else min(values)

    def worst(self, values: Iterable[float]) -> float:
        """The worst of `values`, which must not be empty."""
        return min(values) if self.better == "higher" else max(values)

    def difference_favours_first(self, difference: float) -> bool:
        """True if first - second = `difference` means that the first is strictly better."""
        return difference > 0 if self.better == "higher" else difference < 0

    def display(self, value: float | None) -> str:
        """The displayed value, without its unit; a dash if it is undefined."""
        if value is None or not math.isfinite(value):
            return "–"
        return f"{value * self.scale:,.{self.decimals}f}"


class MeasureTable(dict[str, Measure]):
    """Measures by name, in the order of tables. An unknown name raises a KeyError that lists the known ones."""

    def __init__(self, measures: Iterable[Measure]) -> None:
        super().__init__((measure.name, measure) for measure in measures)

    def __missing__(self, name: str) -> Measure:
        raise KeyError(f"measure {name!r}: one of {', '.join(self)}")

    def check(self, names: Iterable[str]) -> None:
        """Raises KeyError for the first name that is not in the table."""
        for name in names:
            self[name]

    def of(self, kind: Kind) -> MeasureTable:
        """The measures of replays only, or of calls only."""
        return MeasureTable(measure for measure in self.values() if kind in measure.kinds)


def _stages() -> Iterator[Measure]:
    """The stages of the end-to-end delay; `delay_stages.py` defines them."""
    for name, label, meaning in (
        ("encoder", "encoder", "From capture until the frame has left the encoder; none in replays. In calls: means "
         "of a second, from the sender's getStats."),
        ("pacer", "pacer", "From the encoder until the frame's last packet has left the pacer. In calls: means of a "
         "second over packets, from the sender's getStats."),
        ("network", "network", "From the pacer until the frame and all frames before it have arrived, with repair."),
        ("jitter_buffer", "jitter buffer", "From the arrival of the frame until its rendering, with decoding, without "
         "lip sync."),
        ("lip_sync", "lip sync", "The rest of that time, for which the frame waits for audio. In virtual calls: by the "
         "replays' model of libwebrtc's jitter buffer. In calls: means of a second, jitterBufferTargetDelay less "
         "jitterBufferMinimumDelay."),
    ):  # fmt: skip
        yield Measure(
            f"delay_in_{name}_ms_p50", f"Delay in {label}, median", "ms", "lower", meaning, decimals=0, kinds=_BOTH
        )
        yield Measure(f"delay_in_{name}_ms_p95", f"Delay in {label}, p95", "ms", "lower",
                      "95th percentile of the same.", decimals=0, kinds=_BOTH)  # fmt: skip


# fmt: off
MEASURES = MeasureTable(
    [
        Measure("call_quality", "Call quality", "of 100", "higher",
            "What a viewer gets: picture (VMAF, or video quality where there are no pictures) joined with audio after "
            "ITU-T P.1203.3, times the share of time not frozen, times the delay factor. 10 points of VMAF are 11 "
            "points, 10 % of frozen time 10 %, 5 % of concealed audio 3 %, a delay of 400 ms instead of 100 25 %.",
            kinds=_BOTH),
        Measure("end_to_end_delay_ms_p50", "End-to-end delay, median", "ms", "lower",
            "From capture in the sender to rendering in the receiver, over rendered frames; one machine, one clock. In "
            "replays with a model of the jitter buffer.", decimals=0, kinds=_BOTH),
        Measure("end_to_end_delay_ms_p95", "End-to-end delay, p95", "ms", "lower",
            "95th percentile of the end-to-end delay.", decimals=0, kinds=_BOTH),
        Measure("delay_factor", "Delay factor", "%", "higher",
            "Quality that the end-to-end delay leaves: the E-model's (ITU-T G.107, Idd) for the mean delay of each "
            "second, mean over seconds. 100 % up to 100 ms, 98 at 200, 87 at 300, 75 at 400, 45 at 1000.",
            scale=100, kinds=_BOTH),
        *_stages(),
        Measure("lip_sync_share", "Lip sync of the delay", "%", "lower",
            "Time for which all frames waited for audio / their end-to-end delay, both summed over frames.", scale=100,
            decimals=0, kinds=_BOTH),
        Measure("utility", "Utility", "of 100", "higher",
            "MOCC Eq. 2 on fixed scales, under the run's objective: its weights of throughput, latency and loss "
            "times the rate, delay and loss part of the challenge score; times the logarithm of the receive rate from "
            "0 at 30 kbps to 1 at 150 kbps or, on a slower path, at all that it could have delivered. Defined for "
            "every controller, with or without an objective."),
        Measure("challenge", "Challenge score", "of 100", "higher",
            "Network part of the MMSys 2021 score: (0.2 delay + 0.2 rate + 0.3 loss) / 0.7, on fixed scales. Beyond "
            "half of the time frozen it falls evenly, to 0 for a call that shows nothing; utility too."),
        Measure("challenge_delay", "Challenge, delay part", "of 100", "higher",
            "100 max(0, (400 - d95) / (400 - base)); d95 is the 95th percentile of one-way delay in ms."),
        Measure("challenge_rate", "Challenge, rate part", "of 100", "higher",
            "100 min(1, received / achievable bytes)."),
        Measure("challenge_loss", "Challenge, loss part", "of 100", "higher",
            "100 (1 - lost / sent packets)."),
        Measure("viewer_quality", "Viewer's quality", "of 100", "higher",
            "Video quality over the viewer's time; a frozen picture counts as 0. In calls: of ends without weir-peer.",
            kinds=_BOTH),
        Measure("video_quality", "Video quality", "of 100, estimate", "higher",
            "Estimated VMAF from the bitrate of each second alone: a line through the logarithm of the bitrate, "
            "fitted to real VP8 calls at 1280x720. Mean over the time in which the picture moves. In calls of ends "
            "without weir-peer, from bytesReceived in the receiver's getStats.", kinds=_BOTH),
        Measure("frozen_share", "Frozen", "%", "lower",
            "Time in freezes / time measured. A freeze (webrtc-stats): the time between two rendered frames is at "
            "least max(3 d, d + 150 ms), where d is the mean of the 30 before; the time from the last frame to the "
            "end counts by the same rule. In replays a wait of more than a second for the first frame is one too.",
            scale=100, decimals=2, kinds=_BOTH),
        Measure("freeze_count", "Freezes", "", "lower",
            "Number of freezes.", kinds=_BOTH),
        Measure("total_freezes_duration_s", "Freezes, total", "s", "lower",
            "Duration of all freezes.", decimals=2, kinds=_BOTH),
        Measure("frames_per_second", "Frame rate", "per s", "higher",
            "Frames rendered by the receiver / time measured. In calls of ends without weir-peer, framesDecoded in the "
            "receiver's getStats.", kinds=_BOTH),
        Measure("frame_delay_ms_p50", "Frame delay, median", "ms", "lower",
            "From the capture of a frame to the arrival of its last packet and of all frames before it; in filler, a "
            "lost packet arrives again one round trip after the gap shows. Without encoder, jitter buffer and "
            "decoder; in virtual calls, until the jitter buffer releases the frame.", decimals=0),
        Measure("frame_delay_ms_p95", "Frame delay, p95", "ms", "lower",
            "95th percentile of the frame delay.", decimals=0),
        Measure("recoco", "ReCoCo score", "of 99.9", "higher",
            "Equations 7 to 10 of the ReCoCo paper on 200 ms steps. Its delay term is normalised by the run itself: "
            "compare it with that paper's table only."),
        Measure("utilisation", "Utilisation", "%", "higher",
            "Bytes received / bytes that the path could have delivered of media that waits for 100 ms at most, at most "
            "100 %. In "
            "calls: bytes of the call that the link delivered / what its capacity, less cross traffic, could have "
            "delivered.", scale=100, kinds=_BOTH),
        Measure("receive_rate_bps", "Receive rate", "kbps", "higher",
            "Mean over the active time of the flow. In calls: IP bytes that the link delivered per second, with "
            "headers, padding, audio and repairs.", scale=1e-3, decimals=0, kinds=_BOTH),
        Measure("p95_queueing_delay_ms", "Queueing delay, p95", "ms", "lower",
            "95th percentile of one-way packet delay, less the propagation delay of the path.",
            decimals=0, kinds=_BOTH),
        Measure("max_queueing_delay_ms", "Queueing delay, max", "ms", "lower",
            "Queueing delay of the worst packet.", decimals=0, over_flows="worst"),
        Measure("loss_ratio", "Loss", "%", "lower",
            "Packets lost / sent, drops of queues included.", scale=100, decimals=2, kinds=_BOTH),
        Measure("seconds_above_400_ms", "Above 400 ms", "s", "lower",
            "Time with one-way delay above 400 ms.", over_flows="worst"),
        Measure("oscillation", "Oscillation", "%/s", "lower",
            "Mean change of the target from one second to the next, relative to its mean. Changing paths require "
            "some.", scale=100),
        Measure("jain_index", "Jain's index", "", "higher",
            "Fairness among the RTP flows of one direction while all are active; 1 is equal shares.", decimals=3),
        Measure("tcp_share", "TCP's share", "%", "higher",
            "Share of the TCP flows in the bytes received while TCP and RTP flows are active.", scale=100),
        Measure("guard_interventions", "Guard interventions", "per 100 decisions", "lower",
            "How often the guard changed the model's estimate.", scale=100, decimals=2),
        Measure("fallback_ratio", "Fallback decisions", "%", "lower",
            "Share of decisions that the rule-based fallback took because the model had failed.",
            scale=100, decimals=2),
        # Measures of calls; virtual calls have some of them, too.
        Measure("call_score", "Call score", "of 100, weighted", "higher",
            "VMAF joined with audio's quality after ITU-T P.1203.3, times a factor of freezes after P.1203.3 and one "
            "of delay after the E-model (ITU-T G.107), which also rates audio by its concealed share. One freeze a "
            "minute costs 10 %, 10 % of frozen time 10 %, a delay of 400 ms 25 %, 10 points of VMAF 11 points, 5 % of "
            "concealed audio 3.", kinds=_BOTH),
        Measure("received_bitrate_bps", "Received bitrate", "kbps", "higher",
            "getStats of the receiver: bytesReceived of audio and video (payload, no headers, no padding) per "
            "second.", scale=1e-3, decimals=0, kinds=_CALL),
        Measure("vmaf_mean", "VMAF", "of 100", "higher",
            "Mean over rendered frames, each against the source's frame of its number (model vmaf_v0.6.1, at the "
            "source's size). Frames that never came count as freezes, not in VMAF. Virtual calls have it on request "
            "(--vmaf), as the call score and audio's measures.", kinds=_BOTH),
        Measure("vmaf_p5", "VMAF, p5", "of 100", "higher",
            "5th percentile over rendered frames.", kinds=_BOTH),
        Measure("network_delay_ms_p95", "Network delay, p95", "ms", "lower",
            "95th percentile of one-way packet delay over the link, from device to device.", decimals=0, kinds=_BOTH),
        Measure("frame_height_mean", "Height of frames", "px", "higher",
            "Mean over rendered frames, as received.", decimals=0, kinds=_BOTH),
        Measure("quality_switch_count", "Quality switches", "", "lower",
            "Changes of the height from one rendered frame to the next.", decimals=0, kinds=_CALL),
        Measure("top_layer_height", "Top layer", "px", "higher",
            "In calls of ends without weir-peer: the largest frameHeight in the receiver's getStats that is kept for "
            "5 s.", decimals=0, kinds=_CALL),
        Measure("time_to_top_layer_s", "Top layer after", "s", "lower",
            "From the viewer's first frame to that layer. Compare it between calls with the same top layer.",
            kinds=_CALL),
        Measure("layer_drops_per_minute", "Layer drops", "per min", "lower",
            "Changes to a lower frameHeight. Reports in which no frame came (framesPerSecond is 0) do not count.",
            kinds=_CALL),
        Measure("media_share", "Media of the capacity", "%", "higher",
            "Received bitrate / what the link's capacity, less cross traffic, could have carried. Utilisation also "
            "has headers, padding and repairs.", scale=100, decimals=0, kinds=_CALL),
        Measure("concealed_share", "Concealed audio", "%", "lower",
            "getStats of the receiver: concealedSamples / totalSamplesReceived.",
            scale=100, decimals=2, kinds=_BOTH),
        Measure("silent_concealed_share", "Concealed, silent", "%", "lower",
            "getStats of the receiver: silentConcealedSamples / totalSamplesReceived; part of the concealed audio.",
            scale=100, decimals=2, kinds=_CALL),
        Measure("visqol_mean", "Speech, ViSQOL", "MOS-LQO", "higher",
            "ViSQOL in its speech mode, 1 to 5, of the audio that the receiver played against the speech that was "
            "sent; mean of windows of ten seconds.", decimals=2, kinds=_BOTH),
        Measure("visqol_min", "Speech, ViSQOL, worst", "MOS-LQO", "higher",
            "The lowest of the windows of ten seconds.", decimals=2, kinds=_BOTH),
        Measure("plcmos_mean", "Concealment, PLCMOS", "MOS", "higher",
            "PLCMOS v2, 1 to 5, of the audio that the receiver played: listeners' opinion on the concealment of lost "
            "packets, without the speech that was sent; mean of windows of ten seconds. The speech of calls is "
            "synthetic and scores about 3.0 without loss.", decimals=2, kinds=_BOTH),
        Measure("plcmos_min", "Concealment, PLCMOS, worst", "MOS", "higher",
            "The lowest of the windows of ten seconds.", decimals=2, kinds=_BOTH),
        Measure("audio_jitter_buffer_delay_ms", "Audio jitter buffer", "ms", "lower",
            "getStats of the receiver: jitterBufferDelay / jitterBufferEmittedCount.", decimals=0, kinds=_CALL),
        Measure("audio_ahead_ms", "Audio ahead of video", "ms", "lower",
            "getStats of the receiver: estimatedPlayoutTimestamp of audio less that of video, 0 where audio is behind; "
            "mean over the reports.", decimals=0, kinds=_BOTH),
        Measure("audio_behind_ms", "Audio behind video", "ms", "lower",
            "The same where audio is behind, 0 where it is ahead.", decimals=0, kinds=_BOTH),
        Measure("encode_time_ms", "Encoding, a frame", "ms", "lower",
            "getStats of the sender: totalEncodeTime / framesEncoded.", kinds=_CALL),
        Measure("decode_time_ms", "Decoding, a frame", "ms", "lower",
            "getStats of the receiver: totalDecodeTime / framesDecoded.", kinds=_CALL),
        Measure("qp_mean", "QP", "", "lower",
            "getStats of the receiver: qpSum / framesDecoded; in virtual calls, of the rendered frames. Scales differ "
            "by codec.", kinds=_BOTH),
        Measure("time_to_first_frame_ms", "First frame", "ms", "lower",
            "From the start of the scenario, with the call connected, to the first rendered frame.",
            decimals=0, kinds=_CALL),
        Measure("stats_freeze_count", "Freezes by getStats", "", "lower",
            "The receiver's own freezeCount.", kinds=_CALL),
        Measure("stats_total_freezes_duration_s", "Freezes by getStats, total", "s", "lower",
            "The receiver's own totalFreezesDuration.", decimals=2, kinds=_CALL),
    ]
)
# fmt: on
"""Every measure, of replays and calls."""
