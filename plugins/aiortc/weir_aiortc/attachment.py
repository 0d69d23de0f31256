"""`attach`: Weir's estimator in a connection of aiortc."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from aiortc import InvalidStateError, RTCPeerConnection
from aiortc.rtp import RtpPacket

import weir
from weir_aiortc.negotiation import UNKNOWN, Codec, Descriptions, codec_table
from weir_aiortc.transport_tap import RECEIVING, RembOutlet, TransportTap

_STATE_EVENTS = ("signalingstatechange", "connectionstatechange")
_attached: weakref.WeakSet[RTCPeerConnection] = weakref.WeakSet()


class Attachment:
    """The estimator of one connection, from `attach` until the connection is closed or `detach`.

    One estimator hears audio, video and retransmissions of all of the connection's transports, since they share the
    path. Its clock is the event loop's. Everything runs in the loop of `attach`.
    """

    def __init__(
        self,
        pc: RTCPeerConnection,
        estimator: weir.BandwidthEstimator,
        on_estimate: Callable[[weir.Estimate], None] | None,
    ) -> None:
        """Takes the arguments of `attach`."""
        self.estimator = estimator
        """To steer it in the call: `set_objective`, `set_constraints`, `set_controller`, `counters`, ..."""
        self._pc = pc
        self._on_estimate = on_estimate
        self._loop = asyncio.get_running_loop()
        self._detached = False
        self._taps: list[TransportTap] = []
        self._codecs: dict[int, Codec] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._outlet = RembOutlet(pc)
        self._told = False
        self._follow()
        self._descriptions = Descriptions(pc)
        for event in _STATE_EVENTS:
            pc.on(event, self._on_state_change)
        self._wait()

    @property
    def rembs_sent(self) -> int:
        """How many REMBs have gone out."""
        return self._outlet.sent

    def statistics(self) -> dict[str, Any]:
        """As `weir.BandwidthEstimator.statistics`, of the last second and in all; `rembs_sent` with it."""
        return self.estimator.statistics(self._now_us()) | {"rembs_sent": self.rembs_sent}

    def detach(self) -> None:
        """aiortc's own estimator takes over again. Does nothing the second time; closing the connection does it too."""
        if self._detached:
            return
        self._detached = True
        for event in _STATE_EVENTS:
            self._pc.remove_listener(event, self._on_state_change)
        self._descriptions.remove()
        if self._timer is not None:
            self._timer.cancel()
        while self._taps:
            self._taps.pop().remove()
        _attached.discard(self._pc)

    def _on_state_change(self) -> None:
        if self._pc.signalingState == "closed":
            self.detach()
        else:
            # Directions are set after this event, though before anything else runs.
            self._loop.call_soon(self._follow)

    def _follow(self) -> None:
        """Takes in what has been negotiated: transports, codecs, streams that have ended."""
        if self._detached:
            return
        transceivers = self._pc.getTransceivers()
        self._codecs = codec_table(transceivers)
        transports = {transceiver.receiver.transport for transceiver in transceivers}
        for tap in [tap for tap in self._taps if tap.transport not in transports]:
            self._taps.remove(tap)
            tap.remove()
        for transport in transports.difference(tap.transport for tap in self._taps):
            self._taps.append(TransportTap(transport, self._on_packet, self.estimator.remove_stream))
        ended = {one.receiver for one in transceivers if one.currentDirection not in RECEIVING}
        for tap in self._taps:
            tap.follow()
            for ssrc in tap.ssrcs_of(ended):
                self.estimator.remove_stream(ssrc)
        if not self._told and self._outlet.is_open(self._taps):
            # Before the media: a sender with a high start rate uses the REMB that it has by its first frame.
            self._told = True
            self._loop.call_soon(self._tell, self.estimator.latest)

    def _on_packet(self, rtp: RtpPacket, size_bytes: int, arrival_s: float) -> None:
        codec = self._codecs.get(rtp.payload_type, UNKNOWN)
        self.estimator.on_packet(
            arrival_time_us=round(1e6 * arrival_s),
            ssrc=rtp.ssrc,
            sequence_number=rtp.sequence_number,
            payload_bytes=len(rtp.payload),
            kind="probe" if codec.kind == "video" and not rtp.payload else codec.kind,
            abs_send_time=rtp.extensions.abs_send_time,
            rtp_timestamp=rtp.timestamp,
            rtp_clock_rate_hz=codec.clock_rate_hz,
            header_bytes=size_bytes - len(rtp.payload) - rtp.padding_size,
            padding_bytes=rtp.padding_size,
            payload_type=rtp.payload_type,
        )

    def _wait(self) -> None:
        due_us = max(self.estimator.next_timeout_us, self._now_us())
        self._timer = self._loop.call_at(due_us / 1e6, self._on_timeout)

    def _on_timeout(self) -> None:
        self.estimator.on_timeout(self._now_us())
        self._wait()
        if self.estimator.remb_due:
            self._tell(self.estimator.latest)

    def _tell(self, estimate: weir.Estimate) -> None:
        if self._outlet.send(self.estimator, self._taps) and self._on_estimate is not None:
            self._on_estimate(estimate)

    def _now_us(self) -> int:
        return round(1e6 * self._loop.time())


def attach(
    pc: RTCPeerConnection,
    *,
    model: weir.Model | None = None,
    objective: str | Sequence[float] = "balanced",
    on_estimate: Callable[[weir.Estimate], None] | None = None,
) -> Attachment:
    """Lets Weir estimate what a connection can receive, and tell its sender by RTCP REMB, in place of aiortc.

    Before the connection's first offer or answer is made; later too, but then a browser grows by 8 % a second only.
    From a coroutine of the loop that the connection runs in.

    Args:
        pc: the connection; media that it sends are not concerned.
        model: shared by any number of connections; None: the one that comes with Weir.
        objective: balanced, throughput or latency, or three weights (throughput, latency, loss).
        on_estimate: called in the loop for each estimate that is sent. What it raises goes to the loop's exception
            handler, and the estimator goes on.

    Returns:
        The attachment, for statistics, and to steer the estimator.

    Raises:
        TypeError, ValueError: an argument is not what it should be.
        OSError: this copy of Weir comes without a model.
        UnsupportedAiortcError: this aiortc lacks a private name that the plug-in needs.
        aiortc.InvalidStateError: the connection is closed, or has an estimator of Weir already.
        RuntimeError: no event loop runs.
    """
    if not isinstance(pc, RTCPeerConnection):
        raise TypeError(f"attach takes an aiortc.RTCPeerConnection, not {type(pc).__name__}")
    if pc.signalingState == "closed":
        raise InvalidStateError("the connection is closed")
    if pc in _attached:
        raise InvalidStateError("the connection has an estimator of Weir already")
    estimator = weir.BandwidthEstimator(model or weir.Model.shipped(), objective=objective)
    attachment = Attachment(pc, estimator, on_estimate)
    _attached.add(pc)
    return attachment
