"""The record of one real call."""

from __future__ import annotations

from pydantic import JsonValue

from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.part import Count, Number, Part
from weir_eval.records.record import Record
from weir_traces.schema import Values


class CallMeasurement(Part):
    """The time that the measures of a call cover, and the problems in measuring.

    `frames`: counts of received frames by outcome.
    """

    media_start_us: Count | None = None
    end_us: Count | None = None
    frames: dict[str, Count] | None = None
    problems: Values[str] = []


class CallDetails(Part):
    """The part of a call's record that a run does not have.

    Attributes:
        folder: the name of the call's folder.
        audio_codec: empty for a call without audio, as in old records.
        decision_delay_ms: delay after which answers of the policy took effect.
        lip_sync: False if audio and video were in separate streams, so that video did not wait for audio.
        playout: the setting of the limit for how long the receiver holds video; empty in old records, without a limit.
        transport_cc: True if the SDP answer had transport-cc; False: REMB alone.
        disturbed: why its measures must not be averaged; empty if they may.
        failure: why it ended early; empty if it did not.
        stopped: True if the user stopped it before its time was over.
        started_us: CLOCK_MONOTONIC at the start of the scenario; None if it never began.
        happened: notes and orders with their times.
    """

    folder: str = ""
    sender: str = ""
    receiver: str = ""
    codec: str = ""
    audio_codec: str = ""
    width: Count = 0
    height: Count = 0
    frames_per_second: Number = 0
    max_bitrate_bps: Number = 0
    decision_delay_ms: Number = 0.0
    lip_sync: bool = True
    playout: str = ""
    transport_cc: bool = True
    description: str = ""
    disturbed: Values[str] = []
    failure: str = ""
    stopped: bool = False
    started_us: Count | None = None
    ended_us: Count | None = None
    happened: Values[dict[str, JsonValue]] = []
    wake_up_lag_ms_p99: Number | None = None
    measured: CallMeasurement = CallMeasurement()


class CallRecord(Record):
    """One real call."""

    flows: Values[FlowRecord] = []
    call: CallDetails

    @property
    def stopped(self) -> str:
        """When the user stopped the call; empty if nobody did."""
        call = self.call
        if call.stopped and call.started_us is None:
            return "stopped by the user before it began"
        if not call.stopped or call.started_us is None or call.ended_us is None:
            return ""
        return f"stopped by the user at {(call.ended_us - call.started_us) / 1e6:.1f} s of {self.duration_s:g} s"
