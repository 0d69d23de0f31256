"""A session carries messages between the ends, and every failure is reported, recorded and cleaned up."""

import asyncio
import json

import pytest

from weir_calls.call import session
from weir_calls.call.record import INTERRUPTED, read_record
from weir_cli.errors import InputError, MissingComponent
from weir_eval.json_lines import read_objects


@pytest.fixture(autouse=True)
def fakes(monkeypatch, fake_call, fake_peer, simulated_link):
    monkeypatch.setattr(fake_call.FakeLink, "behaviour", "")
    monkeypatch.setattr(fake_call.FakeLink, "downs", [])
    monkeypatch.setattr(fake_call.FakeNamespaces, "existing", 0)
    yield
    assert fake_call.FakeNamespaces.existing == 0


def make_call(settings, orders=(), until=None):
    """The result and the events; orders are given as soon as the call lasts, `stop` when `until(events)`."""
    events = []

    async def run():
        control = asyncio.Queue()

        def on_event(event):
            events.append(event)
            if "duration_s" in event:
                for order in orders:
                    control.put_nowait(order)
            if until and until(events):
                control.put_nowait({"type": "stop"})

        return await asyncio.wait_for(session.run_call(settings, on_event, control), 120)

    return asyncio.run(run()), events


def notes(result):
    return [event["text"] for event in result.record.call.happened if event["type"] == "note"]


def test_a_call_without_espeak_ng_sends_no_speech_and_notes_it(fake_call, tmp_path, monkeypatch):
    def missing():
        raise MissingComponent("espeak-ng is missing")

    monkeypatch.setattr(session, "source_speech_path", missing)
    result, _ = make_call(fake_call.call_settings(tmp_path / "call", controller="weir"))
    assert result.failure == ""
    assert "no speech is sent: espeak-ng is missing" in notes(result)


def test_a_call_from_beginning_to_end(fake_call, tmp_path, fake_peer):
    def every_log_has_lines(events):
        kinds = [(event["type"], event.get("end")) for event in events]
        wanted = (("link", None), ("estimate", None), ("stats", "sender"), ("stats", "receiver"))
        return all(kinds.count(kind) >= 2 for kind in wanted)

    out = tmp_path / "call"
    result, events = make_call(
        fake_call.call_settings(out, controller="weir", duration_s=60.0), until=every_log_has_lines
    )
    assert (result.failure, result.record.call.disturbed) == ("", [])
    assert read_record(out) == result.record
    assert result.record.call.failure == ""
    for name in ("estimates", "sender_stats", "receiver_stats", "link"):
        lines = list(read_objects(out / f"{name}.jsonl"))
        assert len(lines) >= 2, name
        assert all(isinstance(line["time_us"], int) for line in lines)
    kinds = {event["type"] for event in events}
    assert kinds == {"state", "link", "estimate", "stats", "note", "end"}
    assert {event["end"] for event in events if event["type"] == "stats"} == {"sender", "receiver"}
    assert events[-1]["type"] == "end"
    orders = [(order["role"], order["type"]) for order in fake_peer.received_orders()]
    assert orders[0] == ("send", "start")
    assert {("receive", "offer"), ("send", "answer"), ("receive", "candidate"), ("receive", "stop")} <= set(orders)
    assert not any("time_us" in order for order in fake_peer.received_orders())


def test_orders_reach_the_receiver_and_the_link(fake_call, tmp_path, fake_peer):
    orders = [
        {"type": "objective", "throughput": 0.8, "latency": 0.1, "loss": 0.1},
        {"type": "down", "duration_s": 5},
        {"type": "model", "path": "/models/mine.onnx"},
        {"type": "stop"},
    ]
    result, _ = make_call(fake_call.call_settings(tmp_path / "call", duration_s=30.0), orders)
    assert result.failure == ""
    assert fake_call.FakeLink.downs == [5.0]
    objectives = [order for order in fake_peer.received_orders() if order["type"] == "objective"]
    assert [(o["role"], round(o["throughput"], 6)) for o in objectives] == [("receive", 0.8)]
    models = [(order["role"], order["path"]) for order in fake_peer.received_orders() if order["type"] == "model"]
    assert models == [("receive", "/models/mine.onnx")]
    assert "model changed to mine.onnx" in notes(result)
    assert "stopped by the user" in notes(result)
    assert result.record.stopped.startswith("stopped by the user at ")
    happened = [event["type"] for event in result.record.call.happened if event["type"] != "note"]
    assert happened == ["objective", "down", "model"]


@pytest.mark.parametrize(
    ("behaviour", "failure"),
    [
        ({"receive": "die in call"}, "the receiver (weir-peer) was killed by SIGKILL"),
        ({"send": "die in call"}, "the sender (weir-peer) was killed by SIGKILL"),
        ({"send": "fail in call"}, "sender: the connection was lost"),
        ({"receive": "nonsense"}, "the receiver (weir-peer) wrote an invalid message: b'this is no message"),
        ({"receive": "long line"}, "the receiver (weir-peer) wrote a line without end"),
        (
            {"receive": "die at start"},
            "the receiver (weir-peer) ended with status 1 at its start: weir-peer: no codec of that name",
        ),
        ({"send": "die at start"}, "the sender (weir-peer) ended with status 1 at its start"),
    ],
)
def test_an_end_that_dies_ends_the_call_with_a_record(fake_call, tmp_path, fake_peer, behaviour, failure):
    fake_peer(**behaviour)
    result, events = make_call(fake_call.call_settings(tmp_path / "call", duration_s=30.0))
    assert result.failure.startswith(failure)
    assert not result.missing
    assert read_record(tmp_path / "call").call.failure == result.failure
    assert events[-1] | {"time_us": 0} == {"type": "end", "time_us": 0, "failure": result.failure, "disturbed": []}


def test_a_model_that_is_gone_is_missing(fake_call, tmp_path, fake_peer):
    fake_peer(receive="missing model")
    result, _ = make_call(fake_call.call_settings(tmp_path / "call"))
    assert result.missing
    assert "m.onnx: no such file" in result.failure
    assert "m.onnx" in read_record(tmp_path / "call").call.failure


@pytest.mark.parametrize("behaviour", ["die at start", "die in call"])
def test_a_link_that_dies_ends_the_call(fake_call, tmp_path, monkeypatch, behaviour):
    monkeypatch.setattr(fake_call.FakeLink, "behaviour", behaviour)
    result, _ = make_call(fake_call.call_settings(tmp_path / "call", duration_s=30.0))
    assert result.failure.startswith("weir-sim link")
    assert read_record(tmp_path / "call").call.failure == result.failure


def test_ends_that_do_not_connect(fake_call, tmp_path, fake_peer, monkeypatch):
    monkeypatch.setattr(session, "_CONNECT_LIMIT_S", 0.3)
    fake_peer(receive="never connects")
    result, _ = make_call(fake_call.call_settings(tmp_path / "call"))
    assert result.failure == "no connection within 0.3 s"


def test_a_call_that_is_cancelled_ends_everything_and_keeps_its_logs_with_a_record(fake_call, tmp_path, fake_peer):
    frames = tmp_path / "call" / "frames.y4m"

    async def run():
        in_call = asyncio.Event()
        call = asyncio.create_task(
            session.run_call(
                fake_call.call_settings(tmp_path / "call", duration_s=30.0),
                lambda event: in_call.set() if "duration_s" in event else None,
            )
        )
        await asyncio.wait_for(in_call.wait(), 20)
        frames.write_bytes(b"half a frame")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(call, 20)
        return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    assert asyncio.run(run()) == []
    assert not frames.exists()
    record = read_record(frames.parent)
    assert (record.call.failure, record.measures) == (INTERRUPTED, {})
    # Both ends received `stop`, so both have ended.
    assert [order["role"] for order in fake_peer.received_orders() if order["type"] == "stop"] in (
        ["send", "receive"],
        ["receive", "send"],
    )


def test_what_an_interrupted_call_left_is_removed(fake_call, tmp_path):
    out = tmp_path / "call"
    out.mkdir()
    (out / "frames.y4m").write_bytes(b"half a frame")
    (out / "estimates.jsonl").write_text(json.dumps({"time_us": 1}) + "\n")
    make_call(fake_call.call_settings(out))
    assert not (out / "frames.y4m").exists()
    assert all(line["time_us"] > 1 for line in read_objects(out / "estimates.jsonl"))


def test_a_folder_that_cannot_be_made(fake_call, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        make_call(fake_call.call_settings(tmp_path / "file" / "call"))
