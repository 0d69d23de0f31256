"""The page of a dump replaces neither that of another program nor that of a replay."""

from pathlib import Path

import pytest
from shared_fixtures import REPLAY

DUMP = Path(__file__).parents[2] / "data" / "dumps" / "chromium-156.rtcstats.gz"


@pytest.mark.parametrize("command", [REPLAY, ("report", DUMP)])
def test_the_page_of_another_program_is_not_overwritten(results, run_weir, tmp_path, command):
    page = tmp_path / "there/report.html"
    page.parent.mkdir()
    page.write_text("<title>My report</title>")
    status, _, err = run_weir(*command, "--out", "there")
    assert (status, "there/report.html: is not a page of Weir's; choose another folder" in err) == (2, True), err
    assert "My report" in page.read_text()
    # Its own is.
    assert run_weir("report", DUMP, "--out", "own")[0] == 0
    assert run_weir("report", DUMP, "--out", "own")[0] == 0


def test_the_page_of_a_dump_does_not_replace_that_of_a_replay(results, run_weir):
    before = (results / "report.html").read_bytes()
    status, _, err = run_weir("report", DUMP, "--out", "here")
    assert (status, "--out 'here': holds runs or calls (results.jsonl); choose another folder" in err) == (2, True)
    assert (results / "report.html").read_bytes() == before
