"""Two pipelines with webrtcbin, host to host over loopback: Weir at the receiver, and Weir at the sender.

In real time, each for as long as it takes, at most `LIMIT_S`. Needs Debian's Python with GStreamer's bindings.
"""

from collections.abc import Callable

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

LIMIT_S = 40
RTCP_PSFB, RTCP_AFB = 206, 15
TWCC = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
# 1.5 Mbps of what cannot be compressed.
MEDIA = (
    "videotestsrc is-live=true pattern=snow ! video/x-raw,width=320,height=240,framerate=30/1"
    " ! vp8enc deadline=1 cpu-used=16 target-bitrate=1500000 end-usage=cbr ! rtpvp8pay"
)
CAPS = f"application/x-rtp,media=video,encoding-name=VP8,payload=96,extmap-1=(string){TWCC}"


def ask(webrtc: Gst.Element, signal: str, argument: object) -> Gst.Structure | None:
    """webrtcbin's reply to a request."""
    promise = Gst.Promise.new()
    webrtc.emit(signal, argument, promise)
    promise.wait()
    return promise.get_reply()


class Pair:
    """A sender and a receiver that exchange candidates; `configure(sender, receiver, pipelines)` may put
    Weir on either side before they connect.
    """

    def __init__(self, configure: Callable[[Gst.Element, Gst.Element, Gst.Pipeline], None]) -> None:
        self.loop = GLib.MainLoop()
        self.errors: list[str] = []
        self.sending = Gst.parse_launch(f"{MEDIA} ! {CAPS} ! webrtcbin name=webrtc bundle-policy=max-bundle")
        self.receiving = Gst.parse_launch("webrtcbin name=webrtc bundle-policy=max-bundle")
        if not isinstance(self.receiving, Gst.Pipeline):
            element, self.receiving = self.receiving, Gst.Pipeline.new(None)
            self.receiving.add(element)
        self.sender = self.sending.get_by_name("webrtc")
        self.receiver = self.receiving.get_by_name("webrtc")
        self.sender.connect(
            "on-ice-candidate", lambda _, line, text: self.receiver.emit("add-ice-candidate", line, text)
        )
        self.receiver.connect(
            "on-ice-candidate", lambda _, line, text: self.sender.emit("add-ice-candidate", line, text)
        )
        self.receiver.connect("pad-added", self._on_stream)
        for pipeline in (self.sending, self.receiving):
            bus = pipeline.get_bus()
            bus.add_signal_watch()
            bus.connect("message::error", self._on_error)
        configure(self.sender, self.receiver, self.receiving)

    def run(self, until: Callable[[], bool]) -> bool:
        """Connects them, and waits; whether `until` came true in time."""
        self.receiving.set_state(Gst.State.PLAYING)
        self.sending.set_state(Gst.State.PLAYING)
        reached = []

        def look() -> bool:
            if until():
                reached.append(True)
                self.loop.quit()
            return GLib.SOURCE_CONTINUE

        GLib.idle_add(self._connect)
        timer = GLib.timeout_add(50, look)
        end = GLib.timeout_add_seconds(LIMIT_S, self._give_up)
        self.loop.run()
        GLib.source_remove(timer)
        GLib.source_remove(end)
        for pipeline in (self.sending, self.receiving):
            pipeline.set_state(Gst.State.NULL)
        return bool(reached)

    def _give_up(self) -> bool:
        self.loop.quit()
        return GLib.SOURCE_CONTINUE

    def _connect(self) -> bool:
        reply = ask(self.sender, "create-offer", None)
        offer = reply.get_value("offer")
        ask(self.sender, "set-local-description", offer)
        ask(self.receiver, "set-remote-description", offer)
        reply = ask(self.receiver, "create-answer", None)
        created = reply.get_value("answer")
        # webrtcbin answers transport-cc, but not the extension that it needs.
        text = created.sdp.as_text().replace("a=rtcp-mux", f"a=extmap:1 {TWCC}\r\na=rtcp-mux")
        for webrtc, signal in ((self.receiver, "set-local-description"), (self.sender, "set-remote-description")):
            _, sdp = GstSdp.SDPMessage.new_from_text(text)
            ask(webrtc, signal, GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, sdp))
        return GLib.SOURCE_REMOVE

    def _on_stream(self, _: Gst.Element, pad: Gst.Pad) -> None:
        if pad.get_direction() is Gst.PadDirection.SRC:
            sink = Gst.ElementFactory.make("fakesink")
            sink.set_property("async", False)
            self.receiving.add(sink)
            sink.sync_state_with_parent()
            pad.link(sink.get_static_pad("sink"))

    def _on_error(self, _: Gst.Bus, message: Gst.Message) -> None:
        self.errors.append(message.parse_error().gerror.message)
        self.loop.quit()


def test_the_senders_session_reads_the_receivers_remb() -> None:
    """REMB begins at the start rate and rises with the media."""
    rates: list[int] = []

    def on_feedback(_: object, kind: int, form: int, _sender: int, _media: int, fci: Gst.Buffer) -> None:
        data = fci.extract_dup(0, fci.get_size())
        if (kind, form) == (RTCP_PSFB, RTCP_AFB) and data[:4] == b"REMB":
            rates.append(int.from_bytes(data[5:8], "big") % (1 << 18) << (data[5] >> 2))

    def listen(rtpbin: Gst.Element, pad: Gst.Pad) -> None:
        if pad.get_name() == "recv_rtcp_sink_0":
            rtpbin.emit("get-internal-session", 0).connect("on-feedback-rtcp", on_feedback)

    def configure(sender: Gst.Element, receiver: Gst.Element, pipeline: Gst.Pipeline) -> None:
        weir = Gst.ElementFactory.make("weirremb")
        weir.set_property("rtpbin", receiver)
        pipeline.add(weir)
        sender.get_by_name("rtpbin").connect("pad-added", listen)

    pair = Pair(configure)
    reached = pair.run(lambda: bool(rates) and max(rates) > 600_000)
    assert pair.errors == []
    assert reached, rates
    assert rates[0] < 600_000, "it begins at the start rate"


def test_weir_at_the_sender_hears_transport_feedback() -> None:
    """Its estimate rises with the media."""
    estimators: list[Gst.Element] = []

    def make_estimator(_: Gst.Element, _transport: GstWebRTC.WebRTCDTLSTransport) -> Gst.Element:
        estimators.append(Gst.ElementFactory.make("rtpweirbwe"))
        return estimators[-1]

    pair = Pair(lambda sender, *_: sender.connect("request-aux-sender", make_estimator))
    reached = pair.run(lambda: bool(estimators) and estimators[0].get_property("estimated-bitrate") > 900_000)
    assert pair.errors == []
    assert reached
    assert estimators[0].get_property("congestion-state").value_nick == "normal"


if __name__ == "__main__":
    Gst.init(None)
    test_the_senders_session_reads_the_receivers_remb()
    test_weir_at_the_sender_hears_transport_feedback()
