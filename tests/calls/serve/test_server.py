"""The server as programs meet it: who may come in, what is refused, one call at a time, what viewers get."""

import asyncio
import contextlib
import json
import math
import os
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from hand_made import record
from processes import wait_until

from weir_calls import loopback
from weir_calls.call import call_report
from weir_sim.installed import shipped_model
from weir_traces.catalogue import load_bundled
from weir_traces.schema.scenario import Scenario

pytestmark = pytest.mark.asyncio

CALL = {
    "scenario": "step-down-up",
    "sender": "chromium",
    "controller": "weir",
    "objective": {"throughput": 0.4, "latency": 0.5, "loss": 0.1},
    "duration_s": 60,
    "size": "640x360",
}


def origin_of(server):
    return f"http://127.0.0.1:{server.port}"


@asynccontextmanager
async def browser(server, **headers):
    """A client with the address, which has the token, and the origin of the server's own page."""
    async with aiohttp.ClientSession(server.url, headers={"Origin": origin_of(server)} | headers) as session:
        async with session.get("") as answer:
            assert answer.status == 200
        yield session


async def files_of(session):
    """The path below which the server has the files of calls."""
    async with session.get("setup") as answer:
        return (await answer.json())["files"]


@pytest_asyncio.fixture
async def session(server):
    """The server's own page."""
    async with browser(server) as found:
        yield found


@pytest_asyncio.fixture
async def live(session):
    """Its WebSocket."""
    async with session.ws_connect("live") as found:
        yield found


async def status_of(session, path, method="GET", **options):
    async with session.request(method, path, allow_redirects=False, **options) as answer:
        return answer.status


async def events_until(live, wanted):
    """Events of a WebSocket until `wanted(event)`; all of them."""
    found = []
    async with asyncio.timeout(120):
        while True:
            message = await live.receive_json()
            for event in message.get("events", [message]):
                found.append(event)
                if wanted(event):
                    return found


def over(event):
    return event["type"] == "call" and event["call"]["status"] != "running"


# --- who may come in ------------------------------------------------------------------------------------------------


async def test_only_with_the_token(server):
    async with aiohttp.ClientSession(origin_of(server)) as session:
        for path in ("/", "/setup", "/calls", "/live", "/page/main.js", "/call", f"/{'x' * 32}/setup", "/é/"):
            assert await status_of(session, path) == 401, path
        for path in ("/call", "/missing"):
            assert await status_of(session, path, "POST", json=CALL, headers={"Origin": origin_of(server)}) == 401
        assert await status_of(session, f"{server.url}setup") == 200
    assert server.calls.settings == []


async def test_no_response_sets_a_cookie_or_names_the_page_to_others(server):
    (server.out / "x").mkdir(parents=True)
    (server.out / "x/report.html").write_text("<p>report")
    async with browser(server) as session:
        files = await files_of(session)
        for path in ("", "setup", "page/main.js", "calls", "none", f"{files}x/report.html"):
            async with session.get(path) as answer:
                assert "Set-Cookie" not in answer.headers
                assert answer.headers["Referrer-Policy"] == "no-referrer"
        async with session.get("") as answer:
            assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


async def test_the_token_of_files_gives_nothing_else(server, session):
    files = await files_of(session)
    assert files not in server.url
    for path in ("", "setup", "calls", "live", "page/main.js", "../setup", "%2e%2e/setup"):
        raw = aiohttp.client.URL(f"{origin_of(server)}{files}{path}", encoded=True)
        assert await status_of(session, raw) in (401, 404), path
    assert await status_of(session, f"{files}x", "POST") == 405


@pytest.mark.parametrize(
    "host", ["weir.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", "localhost.:{port}"]
)
async def test_other_names_for_loopback_are_refused(server, host):
    async with aiohttp.ClientSession(headers={"Host": host.format(port=server.port)}) as session:
        assert await status_of(session, server.url) == 403


@pytest.mark.parametrize(
    "origin", ["http://weir.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", None]
)
async def test_other_pages_can_neither_start_nor_listen(server, origin):
    headers = {"Origin": origin.format(port=server.port)} if origin else None
    skip = ["Origin"] if origin is None else None
    async with aiohttp.ClientSession(server.url, headers=headers, skip_auto_headers=skip) as other:
        assert await status_of(other, "call", "POST", json=CALL) == 403
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await other.ws_connect("live")
        assert caught.value.status == 403
    assert server.calls.settings == []


async def test_strangers_connections_are_bounded_and_end(server, monkeypatch):
    """Clients that never finish a request, or have no token, are closed; viewers stay."""
    monkeypatch.setattr(loopback, "STRANGER_S", 1.0)
    async with browser(server) as session, session.ws_connect("live") as live:
        slow = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(loopback.MAX_STRANGERS + 20)]
        for number, (_, writer) in enumerate(slow):
            whole = "\r\n" if number % 2 else ""
            writer.write(f"GET /setup HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{whole}".encode())
        assert await status_of(session, "setup") == 200
        for reader, writer in slow:
            # Closed is closed, also where a request was still to be read.
            with contextlib.suppress(ConnectionResetError):
                await asyncio.wait_for(reader.read(), 120)
            writer.close()
        assert (await live.receive_json())["type"] == "hello"
        assert not live.closed
        assert await status_of(session, "setup") == 200


async def test_what_is_no_request_is_no_noise(server, capfd):
    for text in (b"GET / HTTP/1.1\r\n\r\n", b"\x1b[2J\r\n\r\n", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(text)
        assert b" 400 " in await asyncio.wait_for(reader.read(), 120)
        writer.close()
    assert capfd.readouterr() == ("", "")


async def test_it_listens_on_loopback_only(server):
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        address, port = line.split()[1].split(":")
        if int(port, 16) == server.port and line.split()[3] == "0A":
            assert address == "0100007F"
            return
    raise AssertionError("it does not listen")


# --- files ----------------------------------------------------------------------------------------------------------


async def test_files_of_calls_and_nothing_else(server, tmp_path, session):
    folder = server.out / "a call"
    folder.mkdir(parents=True)
    (folder / "report.html").write_text("<p>report")
    (folder / "call.log").write_text("log")
    (folder / "key.pem").write_text("secret")
    (folder / ".hidden.json").write_text("secret")
    (tmp_path / "outside.json").write_text("secret")
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    (server.out / "folder.json").symlink_to(tmp_path)
    files, page = await files_of(session), aiohttp.client.URL(server.url).path
    async with session.get(f"{files}a%20call/report.html") as answer:
        assert (answer.status, await answer.text()) == (200, "<p>report")
        assert "connect-src" not in answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "sandbox allow-scripts" in answer.headers["Content-Security-Policy"]
        assert "allow-same-origin" not in answer.headers["Content-Security-Policy"]
    async with session.get(f"{files}a%20call/call.log") as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    for path in (
        f"{files}../outside.json",
        f"{files}%2e%2e/outside.json",
        f"{files}%2e%2e%2foutside.json",
        f"{files}a%20call/..%2f..%2foutside.json",
        f"{files}a%20call/../../outside.json",
        f"{files}a%20call/link.json",
        f"{files}folder.json/outside.json",
        f"{files}a%20call/key.pem",
        f"{files}a%20call/.hidden.json",
        f"{files}a%20call/report.html%00.json",
        f"{files}a%20call",
        f"{files}/etc/hostname.json",
        f"{files}%2f{str(tmp_path)[1:]}/outside.json",
        f"{page}page/..%2fserver.py",
        f"{page}page/../server.py",
        f"{page}page/%2e%2e%2f%2e%2e%2fcli.py",
        f"{page}page/index.html",
        f"{page}page/{'a' * 300}.js",
    ):
        raw = aiohttp.client.URL(f"http://127.0.0.1:{server.port}{path}", encoded=True)
        assert await status_of(session, raw) == 404, path


async def test_the_path_of_an_offered_scenario_is_a_file_that_can_be_replayed(session, tmp_path):
    async with session.get("scenario/step-down-up") as answer:
        assert (answer.status, answer.content_type) == (200, "application/json")
        (tmp_path / "path.json").write_text(await answer.text())
    assert Scenario.load(tmp_path / "path.json") == load_bundled("step-down-up")
    assert await status_of(session, "scenario/nowhere") == 404
    assert await status_of(session, "scenario/..%2fsetup") == 404


async def test_ranges_of_a_video(server):
    (server.out / "one").mkdir(parents=True)
    (server.out / "one/recording.mp4").write_bytes(bytes(range(200)))
    async with (
        browser(server) as session,
        session.get(await files_of(session) + "one/recording.mp4", headers={"Range": "bytes=100-109"}) as answer,
    ):
        assert (answer.status, await answer.read()) == (206, bytes(range(100, 110)))


async def test_former_calls(server):
    for number, (name, text) in enumerate(
        {
            "good": json.dumps(record("steps", "gcc", disturbed=[], vmaf_mean=80).to_json()),
            "torn": '{"scenario": "st',
            "list": "[]",
            "odd": json.dumps({"scenario": 3, "call": [], "metrics": {"run": {"vmaf_mean": "high"}}}),
            "deep/er/call": json.dumps(record("steps", "weir", disturbed=["cpu"]).to_json()),
        }.items()
    ):
        folder = server.out / name
        folder.mkdir(parents=True)
        (folder / "call.json").write_text(text)
        (folder / "call.json").touch()
        if number == 0:
            (folder / "report.html").touch()
            (folder / "scenario.json").touch()
    async with browser(server) as session, session.get("calls") as answer:
        found = {call["folder"]: call for call in await answer.json()}
    assert set(found) == {"good", "deep/er/call"}
    assert found["good"]["metrics"] == {"vmaf_mean": 80}
    assert found["good"]["report"] == "good/report.html"
    assert (found["good"]["video"], found["good"]["path"]) == (None, "good/scenario.json")
    assert found["deep/er/call"]["disturbed"] == ["cpu"]


# --- calls ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"scenario": "nowhere"}, "scenario"),
        ({"scenario": ["steps"]}, "scenario"),
        ({"sender": "firefox"}, "sender"),
        ({"beside": "weir"}, "beside: one of , gcc, scream, not 'weir'"),
        ({"controller": "oracle"}, "controller: one of weir, gcc, shadow, not 'oracle'"),
        ({"controller": "pilot=weir fusion=sum"}, 'pool, character 19: "sum" is not known'),
        ({"controller": "pilot=weir:/etc/passwd"}, "models from files are for `weir call`"),
        ({"controller": "pilot=foo copilots=gcc"}, "pool: 'foo' is not known; use weir, nada, rule, gcc"),
        ({"duration_s": 1e9}, "duration_s"),
        ({"duration_s": True}, "duration_s"),
        ({"duration_s": None}, "duration_s"),
        ({"objective": {"throughput": 0, "latency": 0.5, "loss": 0.5}}, "objective"),
        ({"objective": [0.4, 0.5, 0.1]}, "objective"),
        # Above 0, and 0 when rounded.
        ({"objective": {"throughput": 1, "latency": 1e-9, "loss": 1}}, "objective"),
        ({"objective": {"throughput": 1, "latency": 1, "loss": 1e-300}}, "objective"),
        ({"objective": {"throughput": 10**400, "latency": 1, "loss": 1}}, "too large"),
        ({"duration_s": 10**400}, "too large"),
        ({"duration_s": -(10**400)}, "too large"),
        ({"size": "9999x9999"}, "size"),
        ({"seed": 0}, "seed"),
        ({"out": "/tmp"}, "out"),
    ],
)
async def test_wrong_settings_are_refused_by_name(server, change, word):
    async with browser(server) as session, session.post("call", json=CALL | change) as answer:
        assert answer.status == 400
        assert word in (await answer.json())["errors"][0]
    assert server.calls.settings == []


async def test_what_is_no_request_is_refused(session):
    for body in ("", "{", "[1]", "NaN", '{"duration_s": NaN}', "[" * 5000, '{"duration_s": 1e400}', "9" * 9999):
        assert await status_of(session, "call", "POST", data=body) == 400, body
    assert await status_of(session, "call", "POST", data="x" * 20_000) == 413
    unknown = {"Content-Type": "text/plain; charset=none-such"}
    assert await status_of(session, "call", "POST", data="{}", headers=unknown) == 400


async def test_a_call_runs_one_at_a_time_and_leaves_its_folder(calls, session, live):
    assert (await live.receive_json())["call"] is None
    async with session.post("call", json=CALL) as answer:
        assert answer.status == 201
        assert (await answer.json())["status"] == "running"
    async with session.post("call", json=CALL) as answer:
        assert answer.status == 409
    calls.release()
    events = await events_until(live, over)
    assert len(calls.settings) == 1
    assert calls.settings[0].objective == (0.4, 0.5, 0.1)
    assert (calls.settings[0].width, calls.settings[0].height) == (640, 360)
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})
    counts = {kind: sum(event["type"] == kind for event in events) for kind in ("link", "estimate", "stats")}
    assert counts == {"link": 600, "estimate": 600, "stats": 120}
    result = events[-1]["call"]
    assert result["status"] == "done"
    (result_entry,) = result["results"]
    assert result_entry["report"].endswith("/report.html")
    assert await status_of(session, await files_of(session) + result_entry["report"]) == 200
    assert await status_of(session, "call", "POST", json=CALL | {"duration_s": 5}) == 201


PAIR = CALL | {"beside": "gcc", "duration_s": 5}


async def test_two_calls_at_once_on_equal_paths(calls, session, live):
    await session.post("call", json=PAIR)
    await events_until(live, lambda event: event["type"] == "link" and event["lane"] == 1)
    await live.send_json({"type": "down", "duration_s": 2})
    await live.send_json({"type": "objective", "throughput": 0.1, "latency": 0.8, "loss": 0.1})
    events = await events_until(live, lambda event: event.get("objective") == [0.1, 0.8, 0.1])
    calls.release()
    events += await events_until(live, over)
    weir, gcc = calls.settings
    assert (weir.controller, gcc.controller) == ("weir", "gcc")
    assert (weir.scenario, weir.seed, weir.duration_s) == (gcc.scenario, gcc.seed, gcc.duration_s)
    assert weir.out.parent == gcc.out.parent
    assert weir.out != gcc.out
    # They meet: neither starts, nor is measured, before the other.
    assert calls.barriers[0] is calls.barriers[1]
    assert calls.barriers[0].parties == 2
    assert {event["lane"] for event in events if event["type"] in ("link", "stats")} == {0, 1}
    call = events[-1]["call"]
    assert (call["status"], call["controllers"], call["at_once"]) == ("done", ["weir", "gcc"], True)
    assert [result["controller"] for result in call["results"]] == ["weir", "gcc"]
    assert len({result["report"] for result in call["results"]}) == 1
    # The path changes for both, the weights for the one that has them.
    assert sorted(order["type"] for order in calls.controls) == ["down", "down", "objective"]


async def test_two_calls_run_in_turn_where_the_machine_is_too_small_for_both(calls, session, live):
    calls.hold_s, calls.cores = math.inf, 2
    await session.post("call", json=PAIR)
    events = await events_until(live, over)
    lanes = [event["lane"] for event in events if event["type"] == "link"]
    assert lanes == sorted(lanes)
    assert set(lanes) == {0, 1}
    assert calls.barriers == [None, None]
    assert events[-1]["call"]["at_once"] is False


async def test_a_cut_comes_at_the_same_time_in_a_later_call(calls, session, live, monkeypatch):
    calls.hold_s, calls.cores, calls.waiting = 2.0, 2, "weir"
    await session.post("call", json=PAIR)
    (started,) = [e for e in await events_until(live, lambda e: "started_us" in e) if "started_us" in e]
    monkeypatch.setattr("weir_calls.serve.call_runner.monotonic_us", lambda: started["started_us"] + 5_200_000)
    await live.send_json({"type": "down", "duration_s": 2})
    await events_until(live, lambda event: event.get("action") == "down")
    calls.release()
    await events_until(live, over)
    assert calls.controls == [
        {"type": "down", "duration_s": 2.0},
        {"type": "down", "duration_s": 2.0, "at_s": 5.2},
    ]


async def test_a_cut_during_the_second_call_is_refused(calls, session, live):
    """The first call had none: the paths would be unequal."""
    calls.hold_s, calls.cores, calls.waiting = 2.0, 2, "gcc"
    await session.post("call", json=PAIR)
    await events_until(live, lambda event: event["type"] == "link" and event["lane"] == 1)
    await live.send_json({"type": "down", "duration_s": 2})
    refused = (await events_until(live, lambda event: event["type"] in ("refused", "control")))[-1]
    assert (refused["type"], refused.get("of")) == ("refused", "down")
    assert "the paths would be unequal" in refused["message"]
    assert calls.controls == []


@pytest.mark.parametrize("is_pair", [False, True])
async def test_changes_after_the_call_that_they_concern_are_refused(server, calls, session, live, is_pair):
    """While it is measured, and while a second call runs that has no objective."""
    if is_pair:
        calls.hold_s, calls.cores, calls.waiting = 2.0, 2, "gcc"
    else:
        calls.hold_s, calls.measuring = math.inf, 0.4
    await session.post("call", json=PAIR if is_pair else CALL)
    await events_until(
        live, lambda event: event["type"] == ("link" if is_pair else "progress") and event["lane"] == is_pair
    )
    for change in (
        {"type": "objective", "throughput": 0.8, "latency": 0.1, "loss": 0.1},
        {"type": "model", "name": "shipped"},
        {"type": "pool", "line": "pilot=weir copilots=nada"},
    ):
        await live.send_json(change)
        refused = (await events_until(live, lambda event: event["type"] in ("refused", "control")))[-1]
        assert (refused["type"], refused.get("of")) == ("refused", change["type"])
        assert "the call is over" in refused["message"]
    calls.release()
    call = (await events_until(live, over))[-1]["call"]
    assert call["objective"] == [0.4, 0.5, 0.1]
    assert calls.controls == []


async def test_the_second_call_that_was_not_made_is_named(calls, session, live):
    calls.hold_s, calls.cores = 2.0, 2
    await session.post("call", json=PAIR)
    await events_until(live, lambda event: event["type"] == "link")
    await live.send_json({"type": "stop"})
    call = (await events_until(live, over))[-1]["call"]
    assert (call["status"], call["message"]) == ("stopped", "")
    assert [result["controller"] for result in call["results"]] == ["weir", "gcc"]
    assert call["results"][1]["stopped"] == "stopped by the user before it began"


async def test_two_calls_that_the_machine_disturbed_are_the_last_at_once(calls, session, live):
    calls.hold_s, calls.disturbed = math.inf, ["the link was 7.0 ms late (95th percentile)"]
    await session.post("call", json=PAIR)
    call = (await events_until(live, over))[-1]["call"]
    assert (call["at_once"], call["status"]) == (True, "done")
    assert "too much for this machine" in call["message"]
    await session.post("call", json=PAIR)
    call = (await events_until(live, lambda event: over(event) and event["call"]["number"] == 2))[-1]["call"]
    assert (call["at_once"], call["message"]) == (False, "")


async def test_of_two_calls_one_that_fails_does_not_end_the_other(calls, session, live):
    calls.hold_s, calls.raises, calls.failing = math.inf, RuntimeError("the browser is gone"), "gcc"
    await session.post("call", json=PAIR)
    call = (await events_until(live, over))[-1]["call"]
    assert (call["status"], call["message"]) == ("failed", "the browser is gone")
    assert [result["controller"] for result in call["results"]] == ["weir"]
    assert calls.barriers[0].broken


async def test_weights_reach_the_call_and_the_other_viewers(server, calls):
    async with browser(server) as session, session.ws_connect("live") as live, session.ws_connect("live") as other:
        await session.post("call", json=CALL)
        await events_until(live, lambda event: event["type"] == "estimate")
        await live.send_json({"type": "objective", "throughput": 0.16, "latency": 0.02, "loss": 0.02})
        events = await events_until(other, lambda event: event.get("objective") == [0.8, 0.1, 0.1])
        (seen,) = (event for event in events if event["type"] == "control")
        assert (seen["throughput"], seen["latency"], seen["loss"]) == (0.8, 0.1, 0.1)
        assert calls.controls == [{"type": "objective", "throughput": 0.8, "latency": 0.1, "loss": 0.1}]


async def test_nonsense_controls_are_refused_and_do_no_harm(calls, session, live):
    await live.receive_json()
    await live.send_json({"type": "stop"})
    assert await live.receive_json() == {"type": "refused", "of": "stop", "message": "no call is running"}
    await session.post("call", json=CALL)
    await events_until(live, lambda event: event["type"] == "estimate")
    for text in (
        "",
        "7",
        "{",
        '{"type": "format"}',
        '{"type": "objective"}',
        '{"type": "objective", "throughput": -1, "latency": 1, "loss": 1}',
        '{"type": "objective", "throughput": NaN, "latency": 1, "loss": 1}',
        '{"type": "down", "duration_s": 1e9}',
        '{"type": "down", "duration_s": 1, "for": "ever"}',
        '{"type": "controller", "name": "oracle"}',
        '{"type": "down", "duration_s": 1' + 400 * "0" + "}",
        '{"type": "objective", "throughput": 1' + 400 * "0" + ', "latency": 1, "loss": 1}',
        '{"type": "objective", "throughput": 1e-9, "latency": 1, "loss": 1}',
        '{"type": "pool"}',
        '{"type": "pool", "line": 7}',
        '{"type": "pool", "line": "pilot=weir fusion=sum"}',
        '{"type": "pool", "line": "pilot=weir:/etc/passwd"}',
    ):
        await live.send_str(text)
        await events_until(live, lambda event: event["type"] == "refused")
    assert calls.controls == []


def put_models(server):
    """Model files of every kind that a folder can hold."""
    shipped = shipped_model().read_bytes()
    outside = server.models.parent / "outside.onnx"
    outside.write_bytes(shipped)
    (server.models / "mine.onnx").write_bytes(shipped)
    (server.models / "broken.onnx").write_bytes(shipped[:-50])
    (server.models / "empty.onnx").write_bytes(b"")
    (server.models / "notes.txt").write_bytes(shipped)
    (server.models / "leads-out.onnx").symlink_to(outside)
    (server.models / "loop.onnx").symlink_to("loop.onnx")
    (server.models / "a-folder.onnx").mkdir()
    (server.models / "deeper").mkdir()
    (server.models / "deeper" / "other.onnx").write_bytes(shipped)
    os.mkfifo(server.models / "pipe.onnx")


async def test_another_model_reaches_the_call(server, calls, session, live):
    put_models(server)
    async with session.get("models") as answer:
        assert await answer.json() == ["shipped", "broken.onnx", "empty.onnx", "mine.onnx"]
    await session.post("call", json=CALL)
    await events_until(live, lambda event: event["type"] == "estimate")
    for name in ("mine.onnx", "shipped"):
        await live.send_json({"type": "model", "name": name})
        seen = (await events_until(live, lambda event: event["type"] == "control"))[-1]
        # Where it lies is nobody's business.
        assert (seen["action"], seen["name"]) == ("model", name)
        assert "path" not in seen
    await live.send_json({"type": "stop"})
    await events_until(live, over)
    paths = [order["path"] for order in calls.controls if order["type"] == "model"]
    assert paths == [str(server.models / "mine.onnx"), str(shipped_model())]


async def test_invalid_and_missing_models_are_refused(server, calls, session, live):
    put_models(server)
    await session.post("call", json=CALL)
    await events_until(live, lambda event: event["type"] == "estimate")
    for message, expected in (
        ({"name": "broken.onnx"}, "model broken.onnx: "),
        ({"name": "empty.onnx"}, "the model stays as it is"),
        ({"name": "gone.onnx"}, "'gone.onnx' is not one of shipped, "),
        ({"name": "leads-out.onnx"}, "is not one of"),
        ({"name": "a-folder.onnx"}, "is not one of"),
        ({"name": "pipe.onnx"}, "is not one of"),
        ({"name": "notes.txt"}, "is not one of"),
        ({"name": "deeper/other.onnx"}, "is not one of"),
        ({"name": "../outside.onnx"}, "is not one of"),
        ({"name": str(server.models / "mine.onnx")}, "is not one of"),
        ({"name": "/etc/passwd"}, "is not one of"),
        ({"name": ["mine.onnx"]}, "is not one of"),
        ({"name": None}, "is not one of"),
        ({}, "is not one of"),
        ({"path": "/etc/passwd"}, "'path' is not known"),
        ({"name": "mine.onnx", "path": "/etc/passwd"}, "'path' is not known"),
    ):
        await live.send_json({"type": "model"} | message)
        refused = (await events_until(live, lambda event: event["type"] == "refused"))[-1]
        assert expected in refused["message"], message
    assert [order for order in calls.controls if order["type"] == "model"] == []


async def test_messages_are_bounded(server, calls):
    async with browser(server) as session, session.ws_connect("live", max_msg_size=0) as live:
        await live.receive_json()
        await live.send_str('"' + "x" * 20_000 + '"')
        assert (await live.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        assert live.close_code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
        async with session.ws_connect("live") as again:
            await again.receive_json()
            await again.send_bytes(b"\0")
            await again.receive()
            assert again.close_code == aiohttp.WSCloseCode.UNSUPPORTED_DATA


async def test_stop_in_the_call_and_before_it(calls, session, live):
    await session.post("call", json=CALL)
    await events_until(live, lambda event: event["type"] == "estimate")
    await live.send_json({"type": "stop"})
    call = (await events_until(live, over))[-1]["call"]
    assert (call["status"], calls.cancelled) == ("stopped", 0)
    assert [result["stopped"][:23] for result in call["results"]] == ["stopped by the user at "]
    calls.connects = False
    await session.post("call", json=CALL)
    await events_until(live, lambda event: event.get("text") == "connecting")
    await live.send_json({"type": "stop"})
    call = (await events_until(live, over))[-1]["call"]
    assert (call["status"], calls.cancelled) == ("stopped", 1)
    (listed,) = call["results"]
    assert (listed["stopped"], listed["failure"], listed["metrics"]) == ("stopped by the user before it began", "", {})
    assert listed["path"] == f"{listed['folder']}/scenario.json"
    async with session.get("calls") as answer:
        assert listed["folder"] in [entry["folder"] for entry in await answer.json()]


async def test_calls_that_never_began_are_in_no_comparison(calls, session, live, server):
    calls.connects = False
    await session.post("call", json=CALL)
    await events_until(live, lambda event: event.get("text") == "connecting")
    await live.send_json({"type": "stop"})
    await events_until(live, over)
    (listed,) = await asyncio.to_thread(call_report.read_folder, server.out)
    summary, page = await asyncio.to_thread(call_report.write, [listed], server.out)
    assert [call.why for call in summary.left_out] == [["stopped by the user before it began"]]
    assert summary.controllers == {}
    assert page.is_file()


async def test_a_second_stop_leaves_the_call_without_measures(calls, session, live):
    calls.measuring = 0.4
    await session.post("call", json=CALL)
    await events_until(live, lambda event: event["type"] == "estimate")
    await live.send_json({"type": "stop"})
    await events_until(live, lambda event: event["type"] == "progress")
    assert calls.cancelled == 0
    await live.send_json({"type": "stop"})
    call = (await events_until(live, over))[-1]["call"]
    assert (call["status"], calls.cancelled) == ("unmeasured", 1)
    assert call["message"] == "No measures under weir: the user stopped the measuring"


async def test_a_stop_while_the_first_of_two_calls_is_measured_keeps_its_measures(calls, session, live):
    calls.hold_s, calls.cores, calls.measuring = math.inf, 2, 0.4
    await session.post("call", json=PAIR)
    await events_until(live, lambda event: event["type"] == "progress")
    await live.send_json({"type": "stop"})
    await events_until(live, lambda event: event.get("action") == "stop")
    calls.release()
    call = (await events_until(live, over))[-1]["call"]
    assert [bool(result["metrics"]) for result in call["results"]] == [True, False]
    assert calls.cancelled == 0


async def test_a_call_goes_on_without_viewers_and_a_viewer_resumes(server, calls, session):
    async with session.ws_connect("live") as live:
        greeting = await live.receive_json()
        await session.post("call", json=CALL)
        first = await events_until(live, lambda event: event["type"] == "estimate")
        last = first[-1]["seq"]
    calls.release()
    await asyncio.to_thread(wait_until, lambda: list(server.out.rglob("call.json")), "the end of the call")
    async with session.ws_connect("live", params={"run": greeting["run"], "after": str(last)}) as live:
        assert (await live.receive_json())["resumed"] is True
        missed = await events_until(live, over)
        assert missed[0]["seq"] == last + 1
        assert len({event["seq"] for event in missed}) == missed[-1]["seq"] - last
    # The event numbers of an earlier run of the server are void: its page gets everything.
    async with session.ws_connect("live", params={"run": "earlier", "after": "100000"}) as live:
        assert (await live.receive_json())["resumed"] is False
        events = await events_until(live, over)
        assert events[0]["type"] == "call"
        assert sum(event["type"] == "link" for event in events) == 600


async def test_history_is_a_minute(calls, session):
    calls.hold_s = math.inf
    async with session.ws_connect("live") as live:
        await session.post("call", json=CALL | {"duration_s": 150})
        await events_until(live, over)
    async with session.ws_connect("live") as live:
        events = await events_until(live, over)
    times = [event["time_us"] for event in events if event["type"] == "link"]
    assert 60e6 <= times[-1] - times[0] <= 62e6
    assert [event["type"] for event in events[:2]] == ["hello", "call"]


async def test_missing_requirements_are_reported_before_anything_starts(server, calls, session):
    calls.lacking = ["root: run it with sudo", "chromium: apt-get install chromium"]
    async with session.post("missing", json=CALL) as answer:
        assert (await answer.json())["missing"] == calls.lacking
    async with session.post("call", json=CALL) as answer:
        assert (answer.status, (await answer.json())["errors"]) == (503, calls.lacking)
    assert calls.settings == []
    assert not server.out.exists()


async def test_a_failed_call_reports_its_reason_and_the_next_one_can_start(calls, session, live):
    calls.raises = RuntimeError("the link fell over")
    await session.post("call", json=CALL)
    call = (await events_until(live, over))[-1]["call"]
    assert (call["status"], call["message"]) == ("failed", "the link fell over")
    calls.raises, calls.failure, calls.hold_s = None, "chromium: ended early", math.inf
    await session.post("call", json=CALL | {"duration_s": 5})
    call = (await events_until(live, lambda event: over(event) and event["call"]["number"] == 2))[-1]["call"]
    assert (call["status"], call["message"]) == ("failed", "chromium: ended early")
    assert call["results"][0]["scenario"] == "step-down-up"


async def test_viewers_are_bounded(session):
    open_sockets = [await session.ws_connect("live") for _ in range(16)]
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await session.ws_connect("live")
    assert caught.value.status == 503
    for live in open_sockets:
        await live.close()
    async with session.ws_connect("live") as live:
        assert (await live.receive_json())["type"] == "hello"


@pytest.mark.parametrize("is_hurried", [False, True])
async def test_the_end_of_the_server_waits_for_measures_unless_hurried(server, calls, session, live, is_hurried):
    calls.hold_s, calls.measuring = math.inf, 0.4
    await session.post("call", json=CALL)
    await events_until(live, lambda event: event["type"] == "progress")
    hurry = asyncio.Event()
    closing = asyncio.create_task(asyncio.to_thread(server.close, hurry))
    if is_hurried:
        calls.running[0][0].call_soon_threadsafe(hurry.set)
    else:
        calls.release()
    assert await closing is not is_hurried
    assert bool(list(server.out.rglob("call.json"))) is not is_hurried


async def test_the_end_of_the_server_ends_the_call(server, calls, session, live):
    await session.post("call", json=CALL)
    await events_until(live, lambda event: event["type"] == "estimate")
    await asyncio.to_thread(server.close)
    assert calls.controls == [{"type": "stop"}]
    assert (server.out / next(server.out.iterdir()).name / "call.json").is_file()
