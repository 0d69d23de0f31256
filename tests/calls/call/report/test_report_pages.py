"""The pages as a browser shows them: light and dark, desktop and phone."""

import pytest
from open_page import SIZES, check_page, open_page

from weir_calls.call.call_report import write
from weir_calls.call.record import make_record


@pytest.fixture(scope="module")
def calls_page(made_call, tmp_path_factory):
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
    return write(records, out)[1]


@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_calls_opens_without_faults(chromium, calls_page, scheme, size):
    check_page(chromium, calls_page, scheme, size, fewest_lines=9)


def test_another_call_and_another_pair_are_shown(chromium, calls_page):
    page, wrong = open_page(chromium, calls_page)
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


def test_the_legend_names_each_controller_once(chromium, calls_page):
    page, _ = open_page(chromium, calls_page)
    names = page.locator("#series .legendtext").all_text_contents()
    assert names == ["available capacity", "weir", "gcc", "scream"]
    page.close()
