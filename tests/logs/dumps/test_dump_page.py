"""The page of a dump as a browser shows it: light and dark, desktop and phone."""

from pathlib import Path

import pytest
from open_page import SIZES, check_page

from weir_logs.dumps.dump_file import read_dump
from weir_logs.dumps.dump_report import write_dump_report

DUMP = Path(__file__).parents[2] / "data" / "dumps" / "chromium-156.webrtc-internals.gz"


@pytest.fixture(scope="module")
def dump_page(tmp_path_factory):
    return write_dump_report(read_dump(DUMP), tmp_path_factory.mktemp("dump"))[1]


@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_dump_opens_without_faults(chromium, dump_page, scheme, size):
    check_page(chromium, dump_page, scheme, size, fewest_lines=15)
