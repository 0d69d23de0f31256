"""The pages as a browser shows them: light and dark, desktop and phone."""

from pathlib import Path

import pytest

from weir_calls.call.call_report import write
from weir_calls.call.record import make_record
from weir_logs.dumps.dump_file import read_dump
from weir_logs.dumps.dump_report import write_dump_report

CHROMIUM = "/usr/bin/chromium"
DUMP = Path(__file__).parents[3] / "data" / "dumps" / "chromium-156.webrtc-internals.gz"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}

pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"{CHROMIUM} is not installed")


@pytest.fixture(scope="module")
def pages(made_call, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    records = []
    for seed in (1, 2):
        for controller in ("weir", "gcc", "scream"):
            folder = out / "calls" / f"steps-{controller}-{seed}"
            made_call.make_logs(folder, delay_ms=80 if controller == "weir" else 140, seed=seed)
            measures = made_call.measured(folder)
            settings = made_call.settings(folder, controller, seed)
            records.append(
                make_record(settings, made_call.progress(), measures, ["a note"] if len(records) == 5 else [])
            )
    return {"calls": write(records, out)[1], "dump": write_dump_report(read_dump(DUMP), out / "dump")[1]}


def open_page(chromium, path, scheme="light", size="desktop"):
    width, height = SIZES[size]
    page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else wrong.append(request.url),
    )
    page.goto(path.as_uri())
    page.wait_for_selector(".chart .main-svg")
    return page, wrong


@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["calls", "dump"])
def test_a_page_opens_without_faults(chromium, pages, name, scheme, size):
    page, wrong = open_page(chromium, pages[name], scheme, size)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    lines = page.locator(".chart .scatterlayer .trace path.js-line").count()
    assert lines >= (9 if name == "calls" else 15)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == (scheme == "dark")
    assert wrong == []
    page.close()


def test_another_call_and_another_pair_are_shown(chromium, pages):
    page, wrong = open_page(chromium, pages["calls"])
    choice = page.locator("#chart-choice")
    assert choice.input_value() == "0"
    page.get_by_role("button", name="next →").click()
    assert choice.input_value() == "1"
    assert page.locator("#series").get_attribute("data-chart") == "1"
    page.get_by_role("button", name="next →").click()
    assert choice.input_value() == "0"
    pair_choice = page.locator("select[data-shows=paired]")
    shown = page.locator("[data-choice-of=paired]:visible")
    assert pair_choice.locator("option").all_text_contents() == ["weir against gcc", "weir against scream"]
    assert shown.inner_text().count("−60") >= 1
    pair_choice.select_option("weir against scream")
    assert shown.get_attribute("data-choice") == "1"
    assert wrong == []
    page.close()


def test_the_legend_names_each_controller_once(chromium, pages):
    page, _ = open_page(chromium, pages["calls"])
    names = page.locator("#series .legendtext").all_text_contents()
    assert names == ["available capacity", "weir", "gcc", "scream"]
    page.close()
