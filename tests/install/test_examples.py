"""The examples, and the code of the documents, which is a part of them.

`python tests/install/test_examples.py` copies that part into the documents.
"""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import weir

ROOT = Path(__file__).parents[2]
SHOWN = {
    # The document that shows a part of it, and the language of that block.
    "cpp/example.cc": ("docs/cpp.md", "cpp"),
    "cpp/sender.cc": ("docs/send_side.md", "cpp"),
    "c/example.c": ("docs/cpp.md", "c"),
    "webrtc/receiver.cc": ("webrtc_patch/README.md", "cpp"),
    "python/example.py": ("docs/python.md", "python"),
}


def marked_region(source: str) -> str:
    """The lines between the two comments `README`, without their indentation."""
    _, region, _ = re.split(r"^ *(?:// README|/\* README \*/|# README)\n", source, flags=re.MULTILINE)
    return textwrap.dedent(region)


def code_block(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=^```{language}\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)


def copy_into_documents() -> None:
    for example, (document, language) in SHOWN.items():
        code = marked_region((ROOT / "examples" / example).read_text())
        text = code_block(language).sub(lambda _, code=code: code, (ROOT / document).read_text(), count=1)
        (ROOT / document).write_text(text)


@pytest.mark.parametrize("example", SHOWN)
def test_a_document_shows_a_part_of_a_program_that_is_built_and_run(example):
    document, language = SHOWN[example]
    (shown,) = code_block(language).findall((ROOT / document).read_text())
    assert shown == marked_region((ROOT / "examples" / example).read_text())


def test_the_python_example_prints_estimates():
    command = [sys.executable, ROOT / "examples/python/example.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^\d+ us: \d+ bit/s, \w+$", done.stdout, flags=re.MULTILINE)) >= 10


def first_cells(heading: str) -> list[str]:
    """The names in the first column of a table of docs/python.md."""
    section = (ROOT / "docs/python.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_the_document_on_python_has_every_key_of_statistics():
    statistics = weir.BandwidthEstimator("rule").statistics(0)
    assert first_cells("Keys of `statistics()`") == list(statistics)


def test_the_document_on_python_has_every_argument_of_on_packet():
    arguments = re.findall(r"(\w+): ", weir.BandwidthEstimator.on_packet.__doc__.split("->")[0])
    assert set(first_cells("Arguments of `on_packet`")) == set(arguments) - {"self"}


def test_a_packet_has_the_ranges_of_the_document_on_python():
    estimator = weir.BandwidthEstimator("rule")
    most = {"ssrc": 2**32 - 1, "sequence_number": 65_535, "payload_type": 255, "rtp_timestamp": 2**32 - 1, "ecn": 3}
    estimator.on_packet(**most, arrival_time_us=0, payload_bytes=65_535 - 12)
    assert estimator.counters()["packets_invalid"] == 0
    estimator.on_packet(**most | {"sequence_number": 0}, arrival_time_us=0, payload_bytes=65_536 - 12)
    assert estimator.counters()["packets_invalid"] == 1
    for name, value in most.items():
        with pytest.raises(ValueError, match=name):
            estimator.on_packet(**most | {name: value + 1}, arrival_time_us=0, payload_bytes=0)


def test_the_python_of_the_document_on_senders_runs():
    codes = code_block("python").findall((ROOT / "docs/send_side.md").read_text())
    run = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for code in codes]
    assert [done.stdout.splitlines() for done in run if "start" in done.stdout] == [
        ["1 0 32000 start", "2 1 500000 start", "3 0 150000 start", "682000 1135200 3335200"]
    ]


if __name__ == "__main__":
    copy_into_documents()
