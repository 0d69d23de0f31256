#!/usr/bin/python3
"""Receives what a browser sends, with webrtcbin, and has Weir steer it: an answer to an offer, in JSON lines.

    GST_PLUGIN_PATH=build/gstreamer plugins/gstreamer/examples/receiver.py [--controller weir|gcc]

Signalling is left to whoever runs it: it takes weir-peer's command line and speaks its JSON lines, over standard input
and output (calls/peer/README.md). `{"type": "offer", "sdp"}`, `{"type": "candidate", "candidate",
"sdpMLineIndex"}` and `{"type": "stop"}` come in; `ready`, `answer`, `candidate`, `state`, `remb`, `stats`, `error` and
`end` go out. `--controller gcc`: without Weir, over webrtcbin's transport-cc. Exit status 0 when it was stopped, 1
after an error.
"""

import argparse
import json
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

# Properties of weirremb that an option of weir-peer is for; and options that mean nothing here: the browser chooses the
# codec, and no picture is decoded.
PROPERTIES = ("model", "min-bitrate", "start-bitrate", "max-bitrate")
WEIGHTS = ("throughput-weight", "latency-weight", "loss-weight")
IGNORED = ("role", "codec", "bind-address", "frames", "frames-size", "received-audio")
STATISTICS = ("target-bitrate", "reason", "receive-bitrate", "queueing-delay", "loss-ratio", "rembs-due")


def say(kind: str, **fields: object) -> None:
    """Writes a message; from any thread."""
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def description(kind: "GstWebRTC.WebRTCSDPType", sdp: str) -> "GstWebRTC.WebRTCSessionDescription":
    """The text of an offer or answer as webrtcbin wants it."""
    _, message = GstSdp.SDPMessage.new_from_text(sdp)
    return GstWebRTC.WebRTCSessionDescription.new(kind, message)


def weirremb(webrtc: "Gst.Element", arguments: argparse.Namespace) -> "Gst.Element":
    """Weir beside a webrtcbin, as the command line wants it."""
    weir = Gst.ElementFactory.make("weirremb")
    if weir is None:
        sys.exit("receiver.py: there is no element weirremb: set GST_PLUGIN_PATH to where libgstweir.so lies")
    weir.set_property("rtpbin", webrtc)
    for name, value in zip(WEIGHTS, arguments.objective, strict=True):
        weir.set_property(name, value)
    for name in PROPERTIES:
        if (value := getattr(arguments, name.replace("-", "_"))) is not None:
            weir.set_property(name, value)
    return weir


class Receiver:
    """A pipeline of webrtcbin, Weir beside it, and a sink for each stream."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._loop = GLib.MainLoop()
        self._status = 0
        self._pipeline = Gst.Pipeline.new(None)
        self._webrtc = Gst.ElementFactory.make("webrtcbin")
        self._webrtc.set_property("bundle-policy", "max-bundle")
        self._webrtc.connect("on-ice-candidate", self._on_candidate)
        self._webrtc.connect("notify::connection-state", self._on_state)
        self._webrtc.connect("pad-added", self._on_stream)
        self._pipeline.add(self._webrtc)
        self._weir = weirremb(self._webrtc, arguments) if arguments.controller == "weir" else None
        if self._weir is not None:
            self._weir.connect("notify::estimated-bitrate", self._on_estimate)
            self._pipeline.add(self._weir)
        self._stats_interval_ms = arguments.stats_interval_ms
        bus = self._pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self._on_error)
        bus.connect("message::warning", self._on_warning)

    def run(self) -> int:
        """Until it is stopped; returns the exit status."""
        self._pipeline.set_state(Gst.State.PLAYING)
        threading.Thread(target=self._read, daemon=True).start()
        GLib.timeout_add(self._stats_interval_ms, self._tell_statistics)
        say("ready", versions={"gstreamer": Gst.version_string()})
        self._loop.run()
        self._pipeline.set_state(Gst.State.NULL)
        say("end", reason="stopped")
        return self._status

    def _read(self) -> None:
        for line in sys.stdin:
            GLib.idle_add(self._take, json.loads(line))
        GLib.idle_add(self._loop.quit)

    def _take(self, message: dict) -> bool:
        if message["type"] == "offer":
            self._answer(message["sdp"])
        elif message["type"] == "candidate":
            self._webrtc.emit("add-ice-candidate", message.get("sdpMLineIndex") or 0, message["candidate"])
        elif message["type"] == "stop":
            self._loop.quit()
        return GLib.SOURCE_REMOVE

    def _answer(self, offer: str) -> None:
        remote = description(GstWebRTC.WebRTCSDPType.OFFER, offer)
        self._ask("set-remote-description", remote)
        # Named, since neither text nor description outlives the reply.
        reply = self._ask("create-answer", None)
        created = reply.get_value("answer")
        answer = created.sdp.as_text()
        if self._weir is not None:
            answer = self._weir.emit("answer-with-remb", offer, answer)
        # Before the candidates, which come with the next line.
        say("answer", sdp=answer)
        self._ask("set-local-description", description(GstWebRTC.WebRTCSDPType.ANSWER, answer))

    def _ask(self, signal: str, argument: object) -> "Gst.Structure | None":
        promise = Gst.Promise.new()
        self._webrtc.emit(signal, argument, promise)
        promise.wait()
        return promise.get_reply()

    def _on_stream(self, _: "Gst.Element", pad: "Gst.Pad") -> None:
        if pad.get_direction() is not Gst.PadDirection.SRC:
            return
        sink = Gst.ElementFactory.make("fakesink")
        sink.set_property("sync", False)
        sink.set_property("async", False)
        self._pipeline.add(sink)
        sink.sync_state_with_parent()
        pad.link(sink.get_static_pad("sink"))

    def _on_candidate(self, _: "Gst.Element", line: int, candidate: str) -> None:
        say("candidate", candidate=candidate, sdpMLineIndex=line, sdpMid=None)

    def _on_state(self, webrtc: "Gst.Element", _: object) -> None:
        say("state", state=webrtc.get_property("connection-state").value_nick)

    def _on_estimate(self, weir: "Gst.Element", _: object) -> None:
        say("remb", bitrate_bps=weir.get_property("estimated-bitrate"))

    def _tell_statistics(self) -> bool:
        stats = self._weir.get_property("stats") if self._weir is not None else None
        report = [] if stats is None else [{"type": "weir"} | {name: stats.get_value(name) for name in STATISTICS}]
        say("stats", report=report)
        return GLib.SOURCE_CONTINUE

    def _on_error(self, _: "Gst.Bus", message: "Gst.Message") -> None:
        say("error", message=message.parse_error().gerror.message, fatal=True)
        self._status = 1
        self._loop.quit()

    def _on_warning(self, _: "Gst.Bus", message: "Gst.Message") -> None:
        say("error", message=message.parse_warning().gerror.message, fatal=False)


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--controller", choices=("weir", "gcc"), default="weir", help="gcc: the browser's own")
    parser.add_argument("--model", help="an ONNX file; without: the shipped model")
    parser.add_argument("--objective", type=weights, default="0.5,0.4,0.1", help="weights of throughput, latency, loss")
    for name in ("min", "start", "max"):
        parser.add_argument(f"--{name}-bitrate-bps", dest=f"{name}_bitrate", type=int)
    parser.add_argument("--stats-interval-ms", type=int, default=1000)
    parser.add_argument("--audio", action="store_true", help=argparse.SUPPRESS)
    for name in IGNORED:
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    Gst.init(None)
    return Receiver(parser.parse_args()).run()


def weights(text: str) -> list[float]:
    """An objective."""
    return [float(weight) for weight in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
