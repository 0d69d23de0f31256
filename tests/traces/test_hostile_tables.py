"""Tables with long names, digits and open quotes: one message each, and work in proportion to their length."""

import os
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.formats.importers import read_trace
from weir_traces.formats.tables import headers
from weir_traces.formats.units import rate_unit
from weir_traces.reading_options import ReadingArguments

LONG = 80_000


def refused(tmp_path: Path, text: str, **stated) -> str:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refusal:
        read_trace(path, reading=ReadingArguments(**stated).reading())
    message = str(refusal.value)
    assert message.startswith(f"{path}: ")
    assert len(message) < 2000
    return message


@pytest.mark.parametrize("text", ["_", " ", "x", "(", "[ ", "-_", "a.", "per_", "_per", "Kbps ", "9"])
def test_a_name_is_split_into_few_parts_whatever_its_length(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work on a part is bounded by its length, and no more than the four parts of a name are looked at."""
    for length in (LONG // 2, LONG):
        name = "rate" + text * (length // len(text)) + ")"
        looked_at: list[str] = []
        with monkeypatch.context() as patched:
            patched.setattr(headers, "rate_unit", looked_at.append)
            patched.setattr(headers, "time_unit", looked_at.append)
            assert headers.unit_at_end(name) == ""
        assert sum(map(len, looked_at)) <= 8 * len(name)


def test_a_long_text_is_no_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> str:
        raise AssertionError("a pattern is tried on a long text")

    assert rate_unit(" Mbit per s ") == rate_unit("Mbps")
    monkeypatch.setattr("re.sub", fail)
    assert rate_unit("_" * LONG + "per") is None


@pytest.mark.parametrize("header", ["time_s,rate{}\n", "time_s,rate{}mbps\n", '"time_s","rate{}"\n', "{};rate_mbps\n"])
@pytest.mark.parametrize("text", ["_", " ", "x"])
def test_a_long_name_is_refused(tmp_path: Path, header: str, text: str) -> None:
    name = "y" + text * (LONG // 2) + "z"
    assert "line 1: a cell of over 1000 characters" in refused(tmp_path, header.format(name) + "0,1\n1,2\n")


@pytest.mark.parametrize("text", ["_", "  ", "per_ ", "("])
def test_a_long_comment_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"# time{text * LONG}Mbps\n0 1.5\n1 2.5\n2 3.5\n")
    capacity = read_trace(path).capacity
    assert capacity is not None
    assert capacity.rates_bps.tolist() == [1.5e6, 2.5e6, 3.5e6]


@pytest.mark.parametrize("digits", ["9" * 5000, "9" * 5000 + ",5", "5," + "9" * 5000, "٣" * 5000, "²"])
def test_long_digits_are_no_number(tmp_path: Path, digits: str) -> None:
    refused(tmp_path, f"1\n2\n{digits}\n")
    refused(tmp_path, f"{digits}\n1\n2\n")
    assert "no column of this name" in refused(tmp_path, "a b c\n1 2 3\n", rate_column=digits, step=1.0)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('"time","ra\n"0","1,234"\n"1","2,345"\n', 1),
        ('time_s,"rate_mbps\n0,3\n1,4\n2,5\n', 1),
        ('time_s,rate_mbps,note\n0,3,a\n1,4,"b\n2,5,c\n3,6,d\n', 3),
        ('time_s,rate_mbps\n0,3\n1,"4\n2,5\n3,6\n', 3),
        ('time_s,rate_mbps\n0,"3\n0,4",\n', 2),
    ],
)
def test_a_quote_that_does_not_close_is_refused_at_its_line(tmp_path: Path, text: str, line: int) -> None:
    assert f"line {line}: a quote opens that does not close on this line" in refused(tmp_path, text)


def test_a_very_long_open_quote_is_refused(tmp_path: Path) -> None:
    text = 'time_s,rate_mbps\n0,1\n1,"2\n' + "".join(f"{row},1\n" for row in range(2, 40_000))
    assert "fix the line, or close its quote" in refused(tmp_path, text)


def test_a_header_that_is_a_comment_in_quotes_is_refused(tmp_path: Path) -> None:
    assert "line 2: a row of data, and no header above it" in refused(tmp_path, '"#time_s","rate_mbps"\n0,3\n1,4\n')


def test_names_may_have_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('"Time (s)","Rate\n(Mbps)"\n0,3\n1,4\n2,5\n')
    capacity = read_trace(path).capacity
    assert capacity is not None
    assert capacity.rates_bps.tolist() == [3e6, 4e6, 5e6]


@pytest.mark.parametrize("case", ["digits/digits.txt", "header_regex/us2.csv", "table_without_names/t.csv"])
def test_the_cases_of_attacks(case: str) -> None:
    if not (shared := os.environ.get("WEIR_SHARED")):
        pytest.skip("WEIR_SHARED is not set: no cases to read")
    path = Path(shared) / "cases/everyday/attacks" / case
    with pytest.raises(InputError, match=path.name):
        read_trace(path)
