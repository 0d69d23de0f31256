"""The page in a real browser: with the mouse, with the keyboard alone, on a phone, in dark and light."""

import json
import math
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from hand_made import record
from processes import wait_until
from serve.conftest import RunningServer
from serve.fake_call import METRICS, STEP_S
from serve.test_picture import GREY, RED, y4m

from weir_calls.call.record import INTERRUPTED
from weir_calls.requirements import find_ffmpeg
from weir_calls.serve import picture
from weir_sim.installed import shipped_model
from weir_traces.catalogue import load_bundled
from weir_traces.schema.scenario import Scenario

# Console messages of a browser on a refused request, and on a server that is gone.
_EXPECTED = ("status of 503", "status of 400", "status of 401", "WebSocket connection", "ERR_CONNECTION_REFUSED")
LIMIT_S = 120.0
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
NARROW_PHONE = {"width": 320, "height": 640}


@pytest.fixture
def open_page(chromium, server):
    """open_page(**context options): the page, loaded; any error on it fails the test. Without `with_second_call`
    no second call is chosen.
    """
    contexts, wrong = [], []

    def open_new_page(viewport=DESKTOP, with_second_call=False, **options):
        contexts.append(chromium.new_context(viewport=viewport, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(LIMIT_S * 1000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.goto(server.url)
        page.wait_for_selector("#status:is([data-state=ready], [data-state=lacking], [data-state=running])")
        if not with_second_call and page.locator("#setup").is_visible():
            page.locator("#beside").get_by_text("none").click()
        return page

    yield open_new_page
    for context in contexts:
        context.close()
    assert [text for text in wrong if not any(part in text for part in _EXPECTED)] == []


def choose(page, scenario):
    page.locator(f"input[value='{scenario}']").locator("..").click()


def until(page, script):
    """Waits until the script is true. Playwright's own waiting would need the page to allow eval."""
    wait_until(lambda: page.evaluate(script), f"not true: {script}")


def colours(page, identifier):
    """How many pixels of a canvas have each colour, without the transparent ones."""
    return page.evaluate(
        """(id) => {
          const canvas = document.getElementById(id), counts = {};
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          for (let at = 0; at < data.length; at += 4) {
            if (data[at + 3] < 200) continue;
            const name = `${data[at]},${data[at + 1]},${data[at + 2]}`;
            counts[name] = (counts[name] || 0) + 1;
          }
          return counts;
        }""",
        identifier,
    )


def wait_until_drawn(page, *lines):
    """Until each of these (canvas, colour token) has its line; plots are drawn a moment after the events come."""
    for canvas, name in lines:
        colour = token_colour(page, name)
        wait_until(lambda canvas=canvas, colour=colour: colours(page, canvas).get(colour, 0) > 30, (canvas, name))


def token_colour(page, name):
    return page.evaluate(
        """(name) => {
          const probe = document.createElement("i");
          probe.style.color = `var(${name})`;
          document.body.append(probe);
          const colour = getComputedStyle(probe).color.match(/\\d+/g).slice(0, 3).join(",");
          probe.remove();
          return colour;
        }""",
        name,
    )


def values(page, legend):
    """The values of a legend: {"Capacity": "2.50 Mbps"}."""
    items = page.locator(f"#{legend} .item:visible").all()
    return {item.locator("span").last.inner_text(): item.locator("b").inner_text() for item in items}


def fill_pool(page, text):
    if not page.locator("#pool-line").is_visible():
        page.locator("#pool-choice summary").click()
    page.locator("#pool-line").fill(text)


def broken_words(page):
    """Words of at most 14 letters and digits, alone between spaces, that are on two lines."""
    return page.evaluate(
        """() => {
          const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
          while (nodes.nextNode()) {
            const node = nodes.currentNode;
            if (!node.parentElement.checkVisibility()) continue;
            for (const { 0: word, index } of node.data.matchAll(/(?<!\\S)[A-Za-z0-9]{2,14}(?!\\S)/g)) {
              const range = document.createRange();
              range.setStart(node, index);
              range.setEnd(node, index + word.length);
              if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word);
            }
          }
          return found;
        }"""
    )


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_pool_members_are_listed_and_the_pilot_can_be_changed(open_page, calls):
    calls.hold_s = 12.0
    page = open_page()
    page.locator("#duration").fill("450")
    fill_pool(page, "pilot=weir copilots=nada fusion=sum")
    page.locator("#start").click()
    wait_until(
        lambda: '"sum" is not known' in page.locator("#refusal").inner_text(), "a wrong specification was accepted"
    )
    fill_pool(page, "pilot=weir  copilots=nada,rule fusion=min")
    page.locator("#start").click()
    page.wait_for_selector("#stop")
    wait_until(lambda: calls.settings, "no call was started")
    assert calls.settings[0].controller == "pilot=weir copilots=nada,rule fusion=min"

    def roles():
        rows = page.locator("#pool-members tr").all()
        return [(row.locator("th").inner_text(), row.locator("td").first.inner_text()) for row in rows]

    wait_until(
        lambda: roles() == [("weir", "active"), ("nada", "candidate"), ("rule", "candidate")], "no roles are shown"
    )
    assert page.locator("#pool-change").input_value() == "pilot=weir copilots=nada,rule fusion=min"
    page.locator("#pool-members button").nth(1).click()
    wait_until(
        lambda: roles() == [("weir", "candidate"), ("nada", "active"), ("rule", "candidate")],
        "the controller was not activated",
    )
    page.locator("#pool-change").fill("pilot=weir fusion=sum")
    page.locator("#pool-change").press("Enter")
    wait_until(lambda: '"sum" is not known' in page.locator("#pool-refusal").inner_text(), "no refusal is shown")
    assert page.locator("#pool-change").input_value() == "pilot=weir fusion=sum"
    page.locator("#pool-change").fill("pilot=rule fusion=max policy=by_trust")
    page.locator("#pool-change").press("Enter")
    wait_until(
        lambda: roles() == [("weir", "observing"), ("nada", "observing"), ("rule", "active")],
        "the specification was not accepted",
    )
    assert [order["line"] for order in calls.controls] == [
        "pilot=nada copilots=weir,rule fusion=min",
        "pilot=rule fusion=max policy=by_trust",
    ]
    assert page.locator("#pool-refusal").inner_text() == ""
    assert "pool: pilot=rule fusion=max policy=by_trust" in page.locator("#events").inner_text()
    assert overflow(page) <= 0


def test_the_model_is_changed_during_the_call(open_page, server, calls):
    (server.models / "mine.onnx").write_bytes(shipped_model().read_bytes())
    (server.models / "broken.onnx").write_bytes(b"no model")
    page = open_page()
    page.locator("#duration").fill("450")
    page.locator("#start").click()
    page.wait_for_selector("#model-form")
    assert page.locator("#model option").all_inner_texts() == ["shipped", "broken.onnx", "mine.onnx"]
    page.locator("#model").select_option("broken.onnx")
    page.locator("#model-form button").click()
    page.wait_for_selector("#model-refusal:not(:empty)")
    assert "model broken.onnx: " in page.locator("#model-refusal").inner_text()
    assert page.locator("#model").input_value() == "shipped"
    box = page.locator("#model-refusal").bounding_box()
    assert box["y"] + box["height"] <= DESKTOP["height"]
    assert re.match(r"\d+\.\d s\nrefused: model broken.onnx: ", page.locator("#events li").first.inner_text())
    page.locator("#model").select_option("mine.onnx")
    page.locator("#model-form button").click()
    wait_until(lambda: "model: mine.onnx" in page.locator("#events").inner_text(), "no model was changed")
    assert page.locator("#model-refusal").inner_text() == ""
    page.reload()
    page.wait_for_selector("#model-form")
    assert page.locator("#model").input_value() == "mine.onnx"
    assert [order["path"] for order in calls.controls] == [str(server.models / "mine.onnx")]
    assert overflow(page) <= 0
    page.locator("#stop").click()
    page.wait_for_selector("#start")
    page.locator("#controllers").get_by_text("gcc", exact=True).click()
    page.locator("#start").click()
    page.wait_for_selector("#stop")
    assert page.locator("#model-form").is_hidden()


def test_choose_start_drag_watch_stop(open_page, server, calls):
    calls.hold_s = 12.0
    page = open_page()
    page.locator("#find").fill("cellu")
    assert page.locator(".scenario:visible").count() >= 3
    choose(page, "cellular-3m")
    assert page.locator("#preview-title").inner_text() == "cellular-3m"
    page.locator("#controllers").get_by_text("shadow").click()
    page.locator("#senders").get_by_text("weir-peer").click()
    page.locator("#duration").fill("450")
    page.locator("#size").select_option("1280x720")
    page.locator("#presets").get_by_text("latency").click()
    page.locator("#start").click()
    page.wait_for_selector("#stop")
    wait_until(lambda: calls.settings, "no call was started")
    settings = calls.settings[0]
    assert (settings.scenario.name, settings.controller, settings.sender) == ("cellular-3m", "shadow", "native")
    assert (settings.duration_s, settings.width, settings.objective) == (450, 1280, (0.1, 0.8, 0.1))

    # The plots have what was sent, in their colours.
    until(page, "parseFloat(document.getElementById('elapsed').textContent) >= 8")
    assert page.locator("#status-text").inner_text() == "In the call"
    wait_until_drawn(page, ("rate-plot", "--c-shadow"), ("rate-plot", "--c-weir"), ("delay-plot", "--c-shadow"),
                     ("reason-plot", "--c-weir"))  # fmt: skip
    rates = values(page, "rate-legend")
    assert list(rates) == ["Capacity", "Received", "Estimate of the sender", "Estimate"]
    assert all(re.fullmatch(r"\d+(\.\d+)? [kM]bps", value) for value in rates.values()), rates

    def verdict_after_a_step():
        # The page shows one in 400 ms, with the events that come then.
        calls.advance(STEP_S)
        return "for display only, GCC is in charge" in page.locator("#verdict").inner_text()

    wait_until(verdict_after_a_step, "no verdict")
    assert "frames/s" in page.locator("#picture").inner_text()

    # The weights, with the mouse: many steps, few messages, the last one kept.
    box = page.locator("#triangle").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.7)
    page.mouse.down()
    began = time.monotonic()
    for step in range(40):
        page.mouse.move(
            box["x"] + box["width"] * (0.4 + 0.0025 * step), box["y"] + box["height"] * (0.7 - 0.0125 * step)
        )
    page.mouse.up()
    shown = page.locator("#weight-throughput").input_value()
    wait_until(lambda: calls.controls and round(100 * calls.controls[-1]["throughput"]) == int(shown))
    assert 60 < int(shown) <= 90
    # One in 120 ms, however long the machine takes for the steps.
    assert len(calls.controls) <= 2 + (time.monotonic() - began) / 0.12
    for control in calls.controls:
        assert control["throughput"] + control["latency"] + control["loss"] == pytest.approx(1)
        assert min(control["throughput"], control["latency"], control["loss"]) >= 0.05 - 1e-6

    page.locator("#stop").click()
    page.wait_for_selector("#result:not([hidden])")
    assert page.locator("#result-title").inner_text() == "The call was stopped"
    with page.expect_popup() as report:
        page.locator("#results").get_by_text("Open the report").click()
    report.value.wait_for_load_state()
    assert report.value.title() == "Report"
    wait_until(lambda: page.locator("#calls-table tbody tr").count() == 1, "the call is not in the list")
    # All is ready for the next call.
    assert page.locator("#start").is_visible()


def swatches(page, legend):
    """Color, dashes and filling of the mark of each visible item of a legend."""
    return page.evaluate(
        """(id) => [...document.querySelectorAll(`#${id} .item`)].filter((item) => item.checkVisibility())
          .map((item) => getComputedStyle(item.querySelector(".mark path")))
          .map(({ stroke, strokeDasharray, fill }) => [stroke, strokeDasharray, fill].join(" "))""",
        legend,
    )


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
def test_the_start_button_and_then_the_call_are_in_view(open_page, calls, viewport):
    page = open_page(viewport)
    box = page.locator("#start").bounding_box()
    assert box["y"] + box["height"] <= 800
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.locator("#start").press("Enter")
    page.wait_for_selector("#stop")
    assert page.evaluate("scrollY") == 0
    assert page.locator("#live-title").bounding_box()["y"] < 700


def test_progress_is_shown_while_the_video_is_made(open_page, calls):
    calls.shares = [0.0, 0.25, 0.4]
    page = open_page()
    page.locator("#start").click()
    for _ in range(2):
        until(page, "document.getElementById('status-text').textContent === 'Making the video, 40 %'")
        assert page.locator("#work progress").evaluate("(bar) => bar.value") == pytest.approx(0.4)
        assert page.locator("#work").is_visible()
        page.reload()
    calls.advance(0)
    until(page, "document.getElementById('status-text').textContent === 'In the call'")
    assert not page.locator("#work").is_visible()
    calls.measuring = 0.3
    page.locator("#stop").click()
    until(page, "document.getElementById('status-text').textContent === 'Measuring, 30 %'")
    assert page.locator("#work").is_visible()


def test_nothing_can_be_changed_while_a_call_is_measured(open_page, calls):
    calls.hold_s, calls.measuring = math.inf, 0.3
    page = open_page()
    fill_pool(page, "pilot=weir copilots=nada fusion=min")
    page.locator("#start").click()
    until(page, "document.getElementById('status-text').textContent === 'Measuring, 30 %'")
    page.locator("#presets").get_by_text("throughput").click()
    assert (
        page.locator("#objective-note").inner_text()
        == "The call under Weir is over: the weights apply to the next one."
    )
    for field in ("#down", "#model", "#model-form button", "#pool-change", "#pool-members button >> nth=1"):
        assert page.locator(field).is_disabled(), field
    assert "objective" not in page.locator("#events").inner_text()
    assert page.locator("#stop").inner_text() == "Stop measuring"
    calls.release()
    page.wait_for_selector("#result:not([hidden])")
    page.locator("#start").click()
    wait_until(lambda: len(calls.settings) == 2, "no second call")
    assert calls.settings[1].objective == (0.8, 0.1, 0.1)


def test_a_reload_after_a_call_shows_its_plots(open_page, calls):
    calls.hold_s = math.inf
    page = open_page()
    page.locator("#duration").fill("5")
    page.locator("#start").click()
    page.wait_for_selector("#result:not([hidden])")
    page.reload()
    page.wait_for_selector("#result:not([hidden])")
    until(page, "!document.getElementById('live').hidden")
    wait_until_drawn(page, ("rate-plot", "--c-weir"))


def test_every_change_of_the_objective_is_in_the_events(open_page, calls):
    page = open_page()
    page.locator("#start").click()
    until(page, "document.getElementById('status-text').textContent === 'In the call'")
    for name in ("throughput", "latency"):
        page.locator("#presets").get_by_text(name).click()
        until(page, f"document.querySelectorAll('#events [data-kind=objective]').length >= {1 + (name == 'latency')}")
    assert page.locator("#events [data-kind=objective] span").all_inner_texts() == [
        "objective: 0.10 / 0.80 / 0.10", "objective: 0.80 / 0.10 / 0.10",
    ]  # fmt: skip


def test_the_events_of_two_calls_in_turn_have_one_clock(open_page, calls):
    calls.cores, calls.waiting, calls.hold_s = 1, "gcc", 4.0
    page = open_page(with_second_call=True)
    page.locator("#duration").fill("5")
    page.locator("#start").click()
    wait_until(lambda: page.locator("#picture").inner_text().startswith("gcc: 30 frames/s"), "gcc's frames are missing")
    calls.release()
    page.wait_for_selector("#result:not([hidden])")
    shown = page.locator("#events time:not(:empty)").all_inner_texts()
    times = [float(text.removesuffix(" s")) for text in shown]
    assert times == sorted(times, reverse=True)
    assert page.locator("#events span").first.inner_text() == "writing the report"


def test_the_result_can_be_shown_again_after_another_scenario_was_chosen(open_page, calls):
    calls.hold_s = math.inf
    page = open_page()
    page.locator("#duration").fill("5")
    page.locator("#start").click()
    page.wait_for_selector("#result:not([hidden])")
    assert page.locator("#last").is_hidden()
    choose(page, "cellular-3m")
    assert page.locator("#result").is_hidden()
    assert page.locator("#last-name").inner_text() == "step-down-up under weir"
    with page.expect_popup() as report:
        page.locator("#last-report").click()
    report.value.wait_for_load_state()
    assert report.value.title() == "Report"
    page.locator("#last-result").click()
    assert page.locator("#result").is_visible()
    assert page.locator("#last").is_hidden()


def test_measuring_can_be_stopped(open_page, calls):
    calls.measuring = 0.3
    page = open_page()
    page.locator("#start").click()
    until(page, "document.getElementById('status-text').textContent === 'In the call'")
    page.locator("#stop").click()
    until(page, "document.getElementById('stop').textContent === 'Stop measuring'")
    # A second click, and after a reload.
    page.reload()
    until(page, "document.getElementById('stop').textContent === 'Stop measuring'")
    assert page.locator("#stop").is_enabled()
    assert "stays without measures" in page.locator("#stop-note").inner_text()
    page.locator("#stop").click()
    page.wait_for_selector("#result:not([hidden])")
    assert page.locator("#result-title").inner_text() == "The call was not measured"
    assert page.locator("#result-note").inner_text() == "No measures under weir: the user stopped the measuring"


def test_a_call_that_was_stopped_before_it_began_is_listed_as_stopped(open_page, calls):
    calls.connects = False
    page = open_page(with_second_call=True)
    page.locator("#start").click()
    until(page, "document.getElementById('status-text').textContent === 'Connecting'")
    page.locator("#stop").click()
    page.wait_for_selector("#calls-table .links .bad")
    assert page.locator("#calls-table .links .bad").all_inner_texts() == ["stopped", "stopped"]
    marked = page.locator("#calls-table .links .bad").first
    assert marked.get_attribute("title") == "stopped by the user before it began"
    # There is nothing to plot and nothing to compare.
    assert page.locator("#live").is_hidden()
    assert page.locator(".compared").count() == 0


def test_the_path_of_a_call_is_shown_during_and_after_it_and_can_be_saved(open_page, calls):
    page = open_page()
    choose(page, "cellular-3m")
    page.locator("#start").click()
    until(page, "document.getElementById('status-text').textContent === 'In the call'")
    for state in ("running", "over"):
        page.wait_for_selector(f"[data-call={state}]")
        assert page.locator("#preview-title").inner_text() == "cellular-3m"
        assert page.locator("#preview-plot").bounding_box()["height"] > 100
        calls.release()
    with page.expect_download() as saved:
        page.locator("#preview-file").click()
    assert saved.value.suggested_filename == "cellular-3m.json"
    assert Scenario.load(Path(saved.value.path())) == load_bundled("cellular-3m")


def test_the_reasons_in_view_have_their_colours_and_names(open_page, calls):
    page = open_page()
    page.locator("#start").click()
    until(page, "document.querySelectorAll('#reason-legend .items .item').length === 2")
    assert page.locator("#reason-legend .items .item").all_inner_texts() == ["controller", "guard: slew"]
    drawn = page.locator("#reason-legend .items .mark").evaluate_all(
        "marks => marks.map((mark) => mark.style.getPropertyValue('--colour'))"
    )
    assert drawn == ["var(--series-1)", "var(--series-3)"]
    assert page.locator("#reason-legend .items .item").nth(1).get_attribute("title").startswith("the target rises")


def test_a_reload_shows_the_decisions_of_weir(open_page, calls):
    page = open_page()
    page.locator("#duration").fill("400")
    page.locator("#start").click()
    page.wait_for_selector("#stop")
    until(page, "document.getElementById('verdict-name').textContent === 'guard: slew'")
    for control in ("#stop", "#start"):
        page.reload()
        page.wait_for_selector(control)
        until(page, "document.getElementById('verdict-name').textContent === 'guard: slew'")
        assert "not active" not in page.locator("#verdict").inner_text()
        if control == "#stop":
            page.locator("#stop").click()
            page.wait_for_selector("#start")


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
def test_weir_and_gcc_beside_each_other_and_a_machine_that_is_too_slow(open_page, calls, viewport):
    calls.hold_s, calls.lateness_ms = 12.0, 7.0
    page = open_page(viewport, with_second_call=True)
    page.locator("#duration").fill("200")
    page.locator("#start").click()
    page.wait_for_selector("#stop")
    until(page, "parseFloat(document.getElementById('elapsed').textContent) >= 8")
    assert "weir and gcc, at once" in page.locator("#running-what").inner_text()
    wait_until_drawn(
        page, *((canvas, f"--c-{name}") for canvas in ("rate-plot", "delay-plot") for name in ("weir", "gcc"))
    )
    assert page.locator("#reason-legend .name").inner_text() == "Decided by, weir"
    rates = values(page, "rate-legend")
    assert {"weir, received", "weir, estimate", "gcc, received", "gcc, estimate of the sender"} <= set(rates)
    for legend in ("rate-legend", "delay-legend", "loss-legend"):
        shown = swatches(page, legend)
        assert len(shown) == len(set(shown)) >= 3, legend
    assert broken_words(page) == []
    assert "gcc: 30 frames/s" in page.locator("#picture").inner_text()
    wait_until(lambda: "too slow for two calls at once" in page.locator("#late").inner_text(), "lateness is not shown")
    assert overflow(page) <= 0
    page.locator("#stop").click()
    page.wait_for_selector("#result:not([hidden])")
    assert page.locator("#results h3").all_inner_texts() == ["weir", "gcc"]
    rows = page.locator(".compared tbody tr").all_inner_texts()
    assert len(rows) == len(METRICS)
    # Stopped calls differ in length.
    assert "Difference" not in page.locator(".compared thead").inner_text()
    assert page.locator("#results .actions").all_inner_texts()[1].strip() == "Its record, JSON"
    assert broken_words(page) == []
    assert overflow(page) <= 0


def test_the_page_follows_the_running_one_of_two_calls_in_turn(open_page, calls):
    calls.cores, calls.waiting, calls.hold_s = 1, "gcc", 4.0
    page = open_page(with_second_call=True)
    page.locator("#duration").fill("5")
    page.locator("#start").click()
    wait_until(lambda: page.locator("#picture").inner_text().startswith("gcc: 30 frames/s"), "gcc's frames are missing")
    assert "weir" not in page.locator("#picture").inner_text()
    assert page.locator("#verdict-name").inner_text() == "gcc"
    assert page.locator("#rules").is_hidden()
    assert page.locator("#reasons").is_hidden()
    assert (
        page.locator("#objective-note").inner_text()
        == "The call under Weir is over: the weights apply to the next one."
    )
    # Neither a cut nor other weights would be equal for both.
    assert page.locator("#down").is_disabled()
    assert page.locator("#model-form button").is_disabled()
    page.locator("#presets").get_by_text("throughput").click()
    calls.release()
    page.wait_for_selector("#result:not([hidden])")
    assert calls.controls == []
    assert page.locator("#rules").is_visible()
    until(page, "['controller', 'guard: slew'].includes(document.getElementById('verdict-name').textContent)")


def test_two_complete_calls_have_a_column_of_differences(open_page, calls):
    calls.hold_s = math.inf
    page = open_page(with_second_call=True)
    page.locator("#duration").fill("5")
    page.locator("#start").click()
    page.wait_for_selector("#result:not([hidden])")
    rows = {row.locator("th").inner_text(): row.locator("td") for row in page.locator(".compared tbody tr").all()}
    (vmaf,) = (cells for name, cells in rows.items() if name.startswith("VMAF") and "p5" not in name)
    assert vmaf.all_inner_texts() == ["82.4", "82.4", "0.0"]
    assert len(rows) == len(METRICS)
    assert overflow(page) <= 0


def test_differences_are_those_of_the_shown_numbers_and_zero_is_neither_good_nor_bad(open_page):
    page = open_page()
    measure = {"name": "m", "label": "M", "unit": "", "scale": 1, "decimals": 1, "better": "higher", "meaning": ""}
    script = """async ([one, values]) => {
      const { showResult } = await import(new URL("page/calls.js", location.href));
      const measures = values.map((_, index) => ({ ...one, name: `m${index}` }));
      const call = (controller, which) => ({
        controller, folder: "x", disturbed: [], freezes: [],
        metrics: Object.fromEntries(values.map((pair, index) => [`m${index}`, pair[which]])),
      });
      showResult({ status: "done", message: "", results: [call("weir", 0), call("gcc", 1)] }, measures);
      const cells = [...document.querySelectorAll(".compared tbody td:last-child")];
      return cells.map((cell) => [cell.textContent, cell.className]);
    }"""
    pairs = [[91.66, 87.24], [30.04, 29.96], [10.0, 12.5], [1234.5, 0]]
    assert page.evaluate(script, [measure, pairs]) == [
        ["+4.5", "good"], ["0.0", ""], ["\u22122.5", "bad"], ["+1,234.5", "good"],
    ]  # fmt: skip
    assert "one sample" in page.locator(".compared").text_content()


def test_reasons_have_colours_of_their_own(open_page):
    page = open_page()
    shown = page.evaluate(
        """async () => {
          const { reasonOf } = await import(new URL("page/guard.js", location.href));
          const rules = [...document.querySelectorAll("#rules b")].map((name) => `guard_${name.textContent}`);
          const names = ["start", "controller", "candidate", "fallback", "held", ...rules];
          return names.map((name) => reasonOf(name).colour);
        }"""
    )
    assert len(shown) == len(set(shown)) >= 15


def test_means_of_a_second_begin_after_a_second(open_page):
    page = open_page()
    shown = page.evaluate(
        """async () => {
          const { CallData } = await import(new URL("page/call_data.js", location.href));
          const data = new CallData("weir", null);
          data.take({ type: "state", time_us: 0, started_us: 1 });
          for (let step = 1; step <= 15; step++) {
            const time_us = step * 100000;
            data.take({ type: "link", time_us, scenario_time_s: step / 10, dropped_packets: 1, packets: 1 });
            data.take({ type: "estimate", time_us, target_rate_bps: 1e6, receive_rate_bps: 1e6, loss_ratio: 0.5 });
          }
          const { lost, seenLost, received } = data.series;
          return [lost, seenLost, received].map(({ values }) => [values[8], values[14]]);
        }"""
    )
    assert shown == [[None, 0.5], [None, 0.5], [None, 1e6]]


def test_the_pictures_are_live_and_frozen_ones_are_marked(open_page, calls, server, tmp_path, monkeypatch):
    source = tmp_path / "source.y4m"
    source.write_bytes(y4m((64, 36), GREY[0]))
    monkeypatch.setattr(picture, "source_video_path", lambda width, height: source)
    calls.hold_s, calls.frames = 8.0, y4m((64, 36), RED[0])
    page = open_page(with_second_call=True)
    page.locator("#start").click()
    # Nothing more comes: the picture stands still.
    until(page, "document.querySelectorAll('#pictures figure.frozen:not([hidden])').length === 2")
    pixel = "[...document.querySelector('#pictures canvas').getContext('2d').getImageData(9, 9, 1, 1).data]"
    assert page.evaluate(pixel) == [254, 0, 0, 255]
    received = page.locator("#pictures figure:not(.source) figcaption")
    assert received.all_inner_texts() == ["weir\nfrozen", "gcc\nfrozen"]
    assert not page.locator("#pictures .source").is_visible()
    for settings, frames in zip(calls.settings, calls.received, strict=True):
        index = '{"frame_number":7,"capture_time_us":1,"render_time_us":2}\n'
        (settings.out / "frames.y4m.jsonl").write_text(index)
        os.utime(frames.path, (2**31, 2**31))
    until(page, "document.querySelectorAll('#pictures figure:not(.frozen):not(.source)').length === 2")
    page.wait_for_selector("#pictures .source")
    assert page.evaluate(pixel.replace("canvas", ".source canvas")) == [128, 128, 128, 255]
    assert overflow(page) <= 0
    page.locator("#stop").click()
    page.wait_for_selector("#result:not([hidden])")
    assert not page.locator("#pictures").is_visible()


def test_two_recordings_play_in_step_and_frozen_times_are_marked(open_page, calls, tmp_path):
    # No picture: the test fires the events of a player.
    calls.video = tmp_path / "none.mp4"
    calls.video.write_bytes(b"no video")
    freeze = {"kind": "freeze", "start_s": 3.0, "duration_s": 2.0, "cause": "loss", "shares": {"loss": 1.0}}
    calls.episodes = [freeze, freeze | {"kind": "queue", "start_s": 8.0}]
    # The recording begins with the first frame: the freeze is at 2 to 4 s of it.
    calls.metrics = {"time_to_first_frame_ms": 1000.0}
    page = open_page(with_second_call=True)
    page.locator("#start").click()
    page.wait_for_selector("#stop")
    page.locator("#stop").click()
    page.wait_for_selector("#result:not([hidden])")
    seek = """(to) => {
      const [first, second] = document.querySelectorAll("#results video");
      first.currentTime = to;
      for (const name of ["seeking", "timeupdate"]) first.dispatchEvent(new Event(name));
      second.dispatchEvent(new Event("timeupdate"));
      first.playbackRate = 2;
      first.dispatchEvent(new Event("ratechange"));
      const marks = [...document.querySelectorAll("#results figcaption")];
      return [second.currentTime, second.playbackRate, ...marks.map((mark) => (mark.hidden ? "" : mark.textContent))];
    }"""
    assert page.evaluate(seek, 2.5) == [2.5, 2, "frozen for 2 s", "frozen for 2 s"]
    assert page.evaluate(seek, 4.5) == [4.5, 2, "", ""]
    assert page.evaluate(seek, 8) == [8, 2, "", ""]
    assert overflow(page) <= 0


def test_counts_of_the_guard_are_whole(open_page):
    page = open_page()
    page.locator("#start").click()
    page.wait_for_selector("#guard:not([hidden])")
    page.evaluate("document.querySelectorAll('.rules dd').forEach((one) => { one.textContent = '128034'; })")
    for viewport in (PHONE, NARROW_PHONE, DESKTOP):
        page.set_viewport_size(viewport)
        lines, inside = page.evaluate(
            """() => {
              const all = [...document.querySelectorAll(".rules dd")];
              const right = (one) => one.getBoundingClientRect().right;
              return [Math.max(...all.map((one) => one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight))),
                all.every((one) => right(one) <= right(one.parentElement))];
            }"""
        )
        assert lines < 1.5, viewport
        assert inside, viewport


def test_keyboard_alone(open_page, calls):
    calls.hold_s = 12.0
    page = open_page()

    def tab_to(selector, backwards=False):
        for _ in range(40):
            page.keyboard.press("Shift+Tab" if backwards else "Tab")
            if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"the keyboard does not reach {selector}")

    def focus_is_seen():
        return page.evaluate(
            """() => {
              let node = document.activeElement;
              if (node.type === "radio") node = node.parentElement;
              const style = getComputedStyle(node);
              return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
            }"""
        )

    tab_to("#find")
    assert focus_is_seen()
    tab_to("input[name=scenario]")
    assert focus_is_seen()
    before = page.locator("#preview-title").inner_text()
    page.keyboard.press("ArrowDown")
    assert page.locator("#preview-title").inner_text() != before
    tab_to("input[name=controller]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    tab_to("input[name=sender]")
    tab_to("#duration")
    page.keyboard.press("Control+a")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    assert "5 to 600" in page.locator("#refusal").inner_text()
    assert page.evaluate("document.activeElement.id") == "duration"
    page.keyboard.press("Control+a")
    page.keyboard.type("400")
    tab_to("#start")
    assert focus_is_seen()
    page.keyboard.press("Enter")
    page.wait_for_selector("#stop")
    # Start is gone; the focus is where the call is stopped.
    assert page.evaluate("document.activeElement.id") == "stop"
    assert page.locator("#status-text").get_attribute("aria-hidden") is None
    tab_to("#weight-latency")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    wait_until(lambda: calls.controls and round(100 * calls.controls[-1]["latency"]) == 37, "the slider sent nothing")
    total = sum(int(page.locator(f"#weight-{name}").input_value()) for name in ("throughput", "latency", "loss"))
    assert total == 100
    assert page.locator("#weight-latency").get_attribute("aria-valuetext") == "0.37"
    tab_to("#plots")
    assert focus_is_seen()
    until(page, "parseFloat(document.getElementById('elapsed').textContent) >= 10")
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    until(page, "document.getElementById('readout').textContent.startsWith('At 2.')")
    assert re.search(r"Rate, Received: \d+", page.locator("#readout").inner_text())
    page.keyboard.press("Escape")
    tab_to("#stop", backwards=True)
    page.keyboard.press("Space")
    page.wait_for_selector("#result:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "result"
    assert calls.settings[0].duration_s == 400


@pytest.mark.parametrize("viewport", [PHONE, NARROW_PHONE, DESKTOP])
def test_every_state_fits_and_can_be_read(open_page, calls, viewport):
    calls.hold_s = 8.0
    calls.lacking = [
        "/dev/net/tun, for the link: modprobe tun; in a container, add --device /dev/net/tun --cap-add NET_ADMIN"
    ]
    page = open_page(viewport=viewport)
    page.wait_for_selector("#missing:not([hidden])")
    # Nothing is ready while something is missing.
    page.wait_for_selector("#status[data-state=lacking]")
    assert page.locator("#status-text").inner_text() == "A call cannot be made here"
    assert overflow(page) <= 0
    calls.lacking = []
    page.locator("#duration").fill("600")
    fill_pool(page, "pilot=weir copilots=nada,rule fusion=min policy=by_trust")
    page.locator("#start").click()
    page.wait_for_selector("#stop")
    until(page, "parseFloat(document.getElementById('elapsed').textContent) >= 5")
    assert overflow(page) <= 0
    page.wait_for_selector(".legend .item")
    assert broken_words(page) == []
    assert is_whole(page, "#pool-members button")
    assert_can_be_read(page, "#running-what", ".legend .item", "#stop", "#verdict span")
    page.locator("#stop").click()
    page.wait_for_selector("#result:not([hidden])")
    page.wait_for_selector("#calls-table tbody tr")
    assert overflow(page) <= 0
    assert broken_words(page) == []
    assert is_whole(page, "#calls-table td")
    assert_can_be_read(page, "#start", ".about small", "#calls-table tbody th")


def assert_can_be_read(page, *selectors):
    """In light and in dark; these elements, and all text at the top."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == (scheme == "dark")
        assert contrast(page, "body") >= 7
        for selector in selectors:
            assert contrast(page, selector) >= 4.5, (scheme, selector)


def is_whole(page, selector):
    """True if these elements are within their section, without scrolling sideways."""
    return page.evaluate(
        """(selector) => [...document.querySelectorAll(selector)].every((node) =>
          node.getBoundingClientRect().right <= node.closest("section").getBoundingClientRect().right)""",
        selector,
    )


def contrast(page, selector):
    """WCAG contrast ratio of an element's text with what is behind it."""
    return page.evaluate(
        """(selector) => {
          const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
          const rgb = (colours) => {
            for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
            return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
          };
          const light = ([r, g, b]) => [r, g, b].map((value) => value / 255)
            .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
            .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
          const node = document.querySelector(selector), behind = [];
          for (let each = node; each; each = each.parentElement) behind.unshift(getComputedStyle(each).backgroundColor);
          const back = light(rgb(["white", ...behind])), text = light(rgb([getComputedStyle(node).color]));
          return (Math.max(back, text) + 0.05) / (Math.min(back, text) + 0.05);
        }""",
        selector,
    )


def test_two_viewers_and_one_that_reconnects(open_page, calls):
    calls.hold_s = 8.0
    page = open_page()
    other = open_page()
    page.locator("#duration").fill("400")
    page.locator("#start").click()
    other.wait_for_selector("#stop")
    # The one who did not start it sees it, steers it, and the other sliders follow.
    other.locator("#presets").get_by_text("throughput").click()
    until(page, "document.getElementById('weight-throughput').value === '80'")
    until(page, "parseFloat(document.getElementById('elapsed').textContent) >= 6")
    # A page that is opened anew has the recent history at once.
    page.reload()
    page.wait_for_selector("#stop")
    until(page, "parseFloat(document.getElementById('elapsed').textContent) >= 6")
    assert page.locator("#weight-throughput").input_value() == "80"
    until(
        page,
        """(() => { const canvas = document.getElementById("rate-plot"), pen = canvas.getContext("2d");
          const { data } = pen.getImageData(48, 0, 12, canvas.height); return data.some((value) => value > 0); })()""",
    )
    page.locator("#down").click()
    wait_until(lambda: {"type": "down", "duration_s": 5.0} in calls.controls, "the link was not cut")
    until(page, "/^The link is down: [1-5] s$/.test(document.getElementById('down').textContent)")
    assert page.locator("#down").is_disabled()
    calls.advance(6.0)
    until(page, "document.getElementById('down').textContent === 'Cut the link for 5 s'")
    assert page.locator("#down").is_enabled()
    until(other, "[...document.querySelectorAll('#events li')].some((line) => line.textContent.includes('link down'))")


def test_the_page_reports_that_the_server_ended(open_page, server):
    page = open_page()
    server.close()
    page.wait_for_selector("#status[data-state=lost]")
    page.locator("#start").click()
    page.wait_for_selector("#refusal:not(:empty)")
    assert "weir serve" in page.locator("#refusal").text_content()


def test_the_page_of_an_earlier_run_of_the_server_leads_to_the_new_address(open_page, server, tmp_path, calls):
    page = open_page()
    server.close()
    again = RunningServer(tmp_path / "calls", calls, None, port=server.port)
    page.wait_for_selector("#status[data-state=replaced]")
    assert page.locator("#status-text").inner_text() == "weir serve was restarted: open its new address"
    assert page.locator("#start").is_disabled()
    again.close()


def test_ages_of_previous_calls_advance(open_page, server):
    folder = server.out / "one"
    folder.mkdir(parents=True)
    (folder / "call.json").write_text(json.dumps(record("steps", "gcc", disturbed=[]).to_json()))
    page = open_page()
    page.clock.install()
    page.reload()
    page.wait_for_selector("#calls-table time")
    assert re.fullmatch(r"\d+ s ago", page.locator("#calls-table time").inner_text())
    page.clock.fast_forward("05:00")
    until(page, "/^[56] min ago$/.test(document.querySelector('#calls-table time').textContent)")


def test_a_call_that_was_not_measured_is_listed_as_not_measured(open_page, server):
    folder = server.out / "one"
    folder.mkdir(parents=True)
    document = record("steps", "gcc", disturbed=[]).to_json()
    document["call"]["failure"] = INTERRUPTED
    (folder / "call.json").write_text(json.dumps(document))
    page = open_page()
    page.wait_for_selector("#calls-table .bad")
    assert page.locator("#calls-table .bad").inner_text() == "not measured"


def test_changes_of_the_weights_leave_room_for_the_measures(open_page, server):
    folder = server.out / "one"
    folder.mkdir(parents=True)
    document = record("steps", "pilot=weir copilots=nada,rule fusion=min policy=by_trust", disturbed=[]).to_json()
    document |= {"objective": [0.62, 0.3, 0.08]}
    weights = {"throughput": 0.1, "latency": 0.8, "loss": 0.1}
    happened = [{"type": "objective", "time_us": time_us} | weights for time_us in (2_000_000, 2_200_000)]
    document["call"] |= {"started_us": 0, "happened": happened}
    (folder / "call.json").write_text(json.dumps(document))
    page = open_page()
    page.wait_for_selector("#calls-table tbody tr")
    assert page.locator("#calls-table tbody td").nth(1).inner_text() == "0.62 / 0.30 / 0.08\nchanged 2 times"
    title = page.locator("#calls-table tbody td small[title]").get_attribute("title")
    assert title == "0.10 / 0.80 / 0.10 at 2.0 s, 0.10 / 0.80 / 0.10 at 2.2 s"
    assert is_whole(page, "#calls-table td")
    assert broken_words(page) == []


def test_the_progress_of_a_call_shows_the_part_of_the_scenario_that_is_played(open_page, calls):
    calls.hold_s = 15.0
    page = open_page()
    choose(page, "step-down-up")
    page.locator("#duration").fill("30")
    page.locator("#start").click()
    until(page, "parseFloat(document.getElementById('elapsed').textContent) >= 15")
    assert page.locator("#length").inner_text() == "of 30 s"
    share = "parseFloat(document.querySelector('#progress .now').getAttribute('x')) / 160"
    assert page.evaluate(share) == pytest.approx(0.5, abs=0.02)
    half = load_bundled("step-down-up").forward.capacity.trace().times_s / 30
    steps = page.evaluate("document.querySelector('#progress .capacity').getAttribute('d').match(/H[\\d.]+/g)")
    assert [float(step[1:]) / 160 for step in steps[: len(half)]] == pytest.approx(half, abs=0.01)


def test_a_pool_replaces_the_chosen_controller_and_errors_go_when_their_field_is_corrected(open_page, calls):
    page = open_page()
    fill_pool(page, "foo")
    assert page.locator("#controllers input").first.is_disabled()
    assert page.locator("#controller-note").inner_text().startswith("The pool below is used.")
    page.locator("#start").click()
    syntax = page.locator("#pool-line").get_attribute("placeholder")
    assert page.locator("#refusal").inner_text() == f'Pool: a specification such as "{syntax}", not "foo".'
    fill_pool(page, "pilot=weir copilots=none fusion=min")
    assert page.locator("#refusal").inner_text() == ""
    page.locator("#start").click()
    page.wait_for_selector("#refusal:not(:empty)")
    fill_pool(page, "")
    assert page.locator("#refusal").inner_text() == ""
    assert page.locator("#controllers input").first.is_enabled()
    page.locator("#duration").fill("7.5")
    assert page.locator("#refusal").inner_text() == "Duration: a whole number of seconds, 5 to 600."
    # Another scenario brings its own duration.
    choose(page, "steps")
    assert page.locator("#refusal").inner_text() == ""
    assert page.locator("#duration").get_attribute("aria-invalid") == "false"
    assert calls.settings == []


def test_a_reload_keeps_the_duration(open_page):
    page = open_page()
    page.locator("#duration").fill("15")
    page.reload()
    page.wait_for_selector("#status[data-state=ready]")
    assert page.locator("#duration").input_value() == "15"


def test_the_plots_of_two_calls_show_the_longer_one_to_its_end(open_page):
    page = open_page()
    times = page.evaluate(
        """async () => {
          const { CallData } = await import("./page/call_data.js"), { Live } = await import("./page/live.js");
          const [weir, scream] = ["weir", "scream"].map((name) => new CallData(name, null)), live = new Live();
          const begin = (data, us, seconds) => {
            data.take({ type: "state", started_us: us, time_us: us });
            data.take({ type: "link", time_us: us + 1e6 * seconds, capacity_bps: 1e6 });
          };
          live.show([weir, scream], 15000);
          begin(weir, 1e6, 15);
          weir.take({ type: "state", text: "measuring", time_us: 17e6 });
          begin(scream, 30e6, 9);
          live.follow(weir);
          const running = live.now;
          scream.take({ type: "state", text: "measuring", time_us: 40e6 });
          return [running, live.now];
        }"""
    )
    assert times == [9000, 15000]


def test_the_estimate_is_within_the_plot(open_page):
    page = open_page()
    top = page.evaluate(
        """async () => {
          const { CallData } = await import("./page/call_data.js"), { Live } = await import("./page/live.js");
          const data = new CallData("weir", null), live = new Live();
          live.show([data], 15000);
          live.follow(data);
          data.series.received.add(1000, 1.2e6);
          data.series.estimate.add(1000, 3.1e6);
          return live.rateTop(0, 15000);
        }"""
    )
    assert top >= 3.1e6


def test_text_of_others_is_text(open_page, server):
    folder = server.out / "x"
    folder.mkdir(parents=True)
    attack = "<img src=x onerror=document.title='taken'>"
    (folder / "call.json").write_text(json.dumps(record(attack, attack, disturbed=[attack]).to_json()))
    page = open_page()
    page.wait_for_selector("#calls-table tbody tr")
    assert attack in page.locator("#calls-table tbody tr").inner_text()
    assert page.locator("#calls-table img").count() == 0
    assert page.title() == "Weir: calls"


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
def test_a_previous_call_with_all_its_links_has_whole_words(open_page, server, viewport):
    folder = server.out / "one"
    folder.mkdir(parents=True)
    document = record("steps", "gcc", disturbed=["the CPU was busy"]).to_json()
    document["call"]["failure"] = "no connection"
    text = json.dumps(document)
    for name in ("call.json", "report.html", "recording.mp4", "scenario.json"):
        (folder / name).write_text(text)
        os.utime(folder / name, (1.7e9, 1.7e9))
    page = open_page(viewport)
    page.wait_for_selector("#calls-table .links .bad")
    shown = ["report", "video", "record", "path", "failed", "disturbed"]
    assert page.locator("#calls-table .links > *").all_inner_texts()[1:] == shown
    for kind in ("record", "path"):
        with page.expect_download() as saved:
            page.locator("#calls-table .links").get_by_text(kind).click()
        assert saved.value.suggested_filename == f"one-{kind}.json"
        assert Path(saved.value.path()).read_text() == text
    assert broken_words(page) == []
    assert overflow(page) <= 0


LINK = "<a href='call.json'><text y='20'>record</text></a>"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("report.html", f"<script>SCRIPT</script>{LINK}"),
        ("picture.svg", f"<svg xmlns='http://www.w3.org/2000/svg'><script>SCRIPT</script>{LINK}</svg>"),
    ],
    ids=["html", "svg"],
)
def test_a_strangers_file_of_a_call_cannot_start_one(chromium, server, calls, name, text):
    """Its script runs, as that of reports does, in an origin of its own: neither it nor what it opens is the page."""
    folder = server.out / "x"
    folder.mkdir(parents=True)
    (folder / "call.json").write_text("{}")
    call = {"scenario": "steps", "sender": "native", "controller": "gcc", "duration_s": 5, "size": "640x360"}
    call["objective"] = {"throughput": 0.4, "latency": 0.5, "loss": 0.1}
    script = """
      window.attempts = 0;
      const opened = window.open("/"), start = (from) => from.fetch("call", { method: "POST", body: 'CALL' });
      const attempt = (from) => { try { start(from).catch(() => 0); } catch {} };
      setInterval(() => { [self, opened].forEach(attempt); attempts++; }, 50);
    """.replace("CALL", json.dumps(call))
    (folder / name).write_text(text.replace("SCRIPT", script if name.endswith("html") else f"<![CDATA[{script}]]>"))
    context = chromium.new_context()
    page = context.new_page()
    page.goto(server.url)
    files = page.evaluate("fetch('setup').then((answer) => answer.json()).then(({ files }) => files)")
    page.goto(f"http://127.0.0.1:{server.port}{files}x/{name}")
    until(page, "window.attempts >= 10")
    assert page.evaluate("self.origin") == "null"
    assert calls.settings == []
    # A link to another file of the call works.
    page.get_by_text("record").click()
    page.wait_for_url("**/call.json")
    assert page.inner_text("body") == "{}"
    context.close()


def test_a_recorded_video_plays_in_its_own_tab_from_the_page_and_from_a_report(open_page, server):
    folder = server.out / "one"
    folder.mkdir(parents=True)
    (folder / "call.json").write_text(json.dumps(record("steps", "gcc", disturbed=[]).to_json()))
    (folder / "report.html").write_text("<a href='recording.mp4'>recording</a>")
    options = ["-v", "error", "-f", "lavfi", "-i", "color=red:size=64x36:duration=1", "-c:v", "libx264"]
    subprocess.run([find_ffmpeg(), *options, "-pix_fmt", "yuv420p", folder / "recording.mp4"], check=True)
    page = open_page()
    for link in ("video", "report"):
        with page.expect_popup() as opened:
            page.locator("#calls-table .links").get_by_text(link, exact=True).click()
        tab = opened.value
        if link == "report":
            tab.get_by_text("recording").click()
            tab.wait_for_url("**/recording.mp4")
        until(tab, "[...document.querySelectorAll('video')].some((video) => video.readyState >= 2)")


def test_a_named_file_is_chosen_and_a_later_choice_is_kept(chromium, tmp_path, calls):
    for name, bundled in (("mine", "sawtooth"), ("other", "outage")):
        load_bundled(bundled).model_copy(update={"name": name}).save(tmp_path / f"{name}.json")
    context = chromium.new_context()
    page = context.new_page()
    shown = page.locator("#preview-title")
    for files, wanted in (([], "step-down-up"), (["mine.json", "other.json"], "mine"), (["other.json"], "other")):
        server = RunningServer(tmp_path / "calls", calls, None, [str(tmp_path / name) for name in files])
        # The page remembers by origin, and each server has its own here.
        page.goto(server.url)
        page.wait_for_selector("#status[data-state=ready]")
        assert shown.inner_text() == wanted
        choose(page, "steps")
        page.goto(server.url)
        page.wait_for_selector("#status[data-state=ready]")
        assert shown.inner_text() == "steps"
        kept = page.evaluate("localStorage.getItem('weir.serve.choice')")
        server.close()
        context.add_init_script(f"localStorage.getItem('x') || localStorage.setItem('weir.serve.choice', {kept!r})")
        context.add_init_script("localStorage.setItem('x', 1)")
    context.close()


def test_what_comes_after_the_call_is_not_drawn(open_page):
    page = open_page()
    ends = page.evaluate(
        """async () => {
          const { CallData } = await import("./page/call_data.js");
          return ["weir", "gcc"].map((controller) => {
            const data = new CallData(controller, null);
            const stats = (second, bytes) => ({ type: "stats", end: "receiver", time_us: 1e6 * second,
              report: [{ type: "inbound-rtp", kind: "video", bytesReceived: bytes }] });
            data.take({ type: "state", started_us: 1e6, time_us: 1e6 });
            for (let second = 2; second < 6; second++) {
              data.take(stats(second, 1e5 * second));
              if (controller === "weir") data.take({ type: "estimate", time_us: 1e6 * second, receive_rate_bps: 8e5 });
            }
            data.take({ type: "state", text: "ending the call", time_us: 5.1e6 });
            data.take(stats(5.2, 5e5));
            if (controller === "weir") data.take({ type: "estimate", time_us: 5.2e6, receive_rate_bps: 0 });
            return [data.series.received.values.at(-1), data.now];
          });
        }"""
    )
    assert ends == [[8e5, 4000], [8e5, 4000]]


def test_packets_lost_while_the_link_is_cut_are_in_the_loss(open_page):
    page = open_page()
    drawn = page.evaluate(
        """async () => {
          const { CallData } = await import("./page/call_data.js");
          const data = new CallData("weir", null);
          data.take({ type: "state", started_us: 1e6, time_us: 1e6 });
          data.take({ type: "link", time_us: 1e6, capacity_bps: 1e6, packets: 0 });
          data.take({ type: "link", time_us: 2e6, capacity_bps: 1e6, packets: 30 });
          data.take({ type: "link", time_us: 2.1e6, capacity_bps: 0, packets: 0, dropped_while_down_packets: 10 });
          return [data.series.capacity.values, data.series.lost.values];
        }"""
    )
    assert drawn == [[1e6, 1e6, 0], [None, 0, 0.25]]


def test_the_sum_of_the_weights_stays_1(open_page):
    page = open_page()
    sums = page.evaluate(
        """async () => {
          const { allowed, fromPoint, moved, percents, toPoint } = await import("./page/objective.js");
          const bad = [];
          const check = (weights, what) => {
            const sum = weights.reduce((a, b) => a + b, 0);
            if (Math.abs(sum - 1) > 1e-9 || Math.min(...weights) < 0.05 - 1e-9) bad.push([what, weights]);
            if (percents(weights).reduce((a, b) => a + b, 0) !== 100) bad.push(["percents", weights]);
          };
          let weights = [0.4, 0.5, 0.1];
          for (let step = 0; step < 3000; step++) {
            const before = weights;
            weights = moved(weights, step % 3, ((step * 37) % 101) / 100, 0.05);
            check(weights, "moved");
            const back = fromPoint(toPoint(weights));
            if (back.some((value, index) => Math.abs(value - weights[index]) > 1e-9)) bad.push(["point", weights]);
            check(allowed(fromPoint([(step * 53) % 400 - 70, (step * 29) % 300 - 50]), 0.05), "allowed");
          }
          return bad.slice(0, 3);
        }"""
    )
    assert sums == []


def test_the_picture_of_the_first_of_two_calls_in_turn_says_ended(open_page, calls):
    calls.cores, calls.frames, calls.hold_s = 2, y4m((64, 36), RED[0]), 8.0
    page = open_page(with_second_call=True)
    page.locator("#start").click()
    until(page, "document.querySelectorAll('#pictures figure.frozen:not([hidden])').length === 1")
    calls.waiting = "gcc"
    calls.advance(0.0)
    until(page, "document.querySelector('#pictures figcaption').innerText === 'weir\\nended'")
    assert page.locator("#pictures figure.frozen").count() <= 1
    calls.release()


def test_axes_end_with_the_call_and_at_100_percent_and_ended_calls_have_no_last_values(open_page, calls):
    calls.hold_s = math.inf
    page = open_page()
    page.locator("#duration").fill("10")
    page.locator("#start").click()
    page.wait_for_selector("#result:not([hidden])")
    assert set(page.locator("#rate-legend b").all_inner_texts()) == {"–"}
    assert (
        page.evaluate(
            """async () => { const { Plot } = await import("./page/plot.js");
          const plot = new Plot(null, { lines: [], floor: 0.02, limit: 1, top: () => 1 });
          return plot.scaled({}); }"""
        )
        == 1
    )
