import csv
import gzip
import io

import pytest

from weir_eval.measures.table import MEASURES
from weir_eval.runs.store import RunStore


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "link.csv"
    path.write_text("time_s,rate_bps\n0,1000000\n5,2000000\n")
    return path


def table(path):
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def replay(run_weir, trace, *options):
    command = ["replay", trace, "--controller", "weir", "--controller", "gcc", "--out", "out", "--objectives", 0]
    status, _, err = run_weir(*command, "--seeds", 2, "--duration", 5, *options)
    assert status == 0, err


def test_the_tables_hold_what_the_results_hold(fake_simulator, run_weir, trace, tmp_path):
    replay(run_weir, trace, "--csv")
    store = RunStore(tmp_path / "out")
    runs = table(store.folder / "results.csv")
    records = {(r.controller, str(r.seed)): r for r in store.read()}
    assert [(run["controller"], run["seed"]) for run in runs] == [(c, s) for s in "12" for c in ("weir", "gcc")]
    for run in runs:
        measures = records[run["controller"], run["seed"]].measures
        assert {name: run[name] for name in MEASURES.of("replay")} == {
            n: "" if v is None else repr(v) for n, v in measures.items()
        }
        assert [run[f"{name}_weight"] for name in ("throughput", "latency", "loss")] == ["0.5", "0.4", "0.1"]
    series = table(store.folder / "series.csv.gz")
    assert len(series) == 4 * 50
    kept = store.read_series(records["gcc", "2"])
    last = series[-1]
    assert (last["controller"], last["seed"], last["flow"], last["time_s"]) == ("gcc", "2", "media", "4.9")
    assert float(last["capacity_bps"]) == kept["path"]["capacity_bps"][-1]
    assert float(last["receive_rate_bps"]) == kept["flows"]["media"]["receive_rate_bps"][-1]
    frames = table(store.folder / "frames.csv.gz")
    # The flow starts within the first tenth of a second.
    assert len(frames) == 4 * 49
    assert float(frames[-1]["capture_time_s"]) == 4.9
    assert float(frames[0]["rendered_time_s"]) > float(frames[0]["capture_time_s"])


@pytest.mark.parametrize("name", ["=1+1", "+A1", "-A1", '@SUM(A1), "b"'])
def test_a_name_is_no_formula(fake_simulator, run_weir, trace, tmp_path, name):
    trace = trace.rename(tmp_path / f"{name}.csv")
    replay(run_weir, f"./{name}.csv", "--csv")
    for file in ("results.csv", "series.csv.gz", "frames.csv.gz"):
        assert {row["scenario"] for row in table(tmp_path / "out" / file)} == {f"'{name}"}


def test_report_writes_the_same_tables_again(fake_simulator, run_weir, trace, tmp_path):
    replay(run_weir, trace, "--csv")
    names = ("results.csv", "series.csv.gz", "frames.csv.gz")
    before = [(tmp_path / "out" / name).read_bytes() for name in names]
    for name in names:
        (tmp_path / "out" / name).unlink()
    assert run_weir("report", "out", "--csv")[0] == 0
    assert [(tmp_path / "out" / name).read_bytes() for name in names] == before


def test_tables_are_written_on_request_only(fake_simulator, run_weir, trace, tmp_path):
    replay(run_weir, trace)
    assert not list((tmp_path / "out").glob("*.csv*"))


@pytest.mark.parametrize(("kept", "seeds"), [("all", {1, 2}), ("first", {1}), ("none", set())])
def test_series_are_kept_for_the_requested_seeds_and_measured_for_all(
    fake_simulator, run_weir, trace, tmp_path, kept, seeds
):
    replay(run_weir, trace, "--csv", "--series", kept)
    store = RunStore(tmp_path / "out")
    records = store.read()
    assert {record.seed for record in records if store.read_series(record)} == seeds
    assert all(record.measures["frame_delay_ms_p95"] is not None for record in records)
    assert {int(row["seed"]) for row in table(store.folder / "series.csv.gz")} == seeds
    # Asked for later, the missing ones are made.
    replay(run_weir, trace, "--series", "all")
    assert all(store.read_series(record) for record in store.read())
    assert len(store.read()) == 4


def test_a_table_that_cannot_be_written_is_an_error(fake_simulator, run_weir, trace, tmp_path):
    (tmp_path / "out" / "results.csv").mkdir(parents=True)
    status, _, err = run_weir("replay", trace, "--seeds", 1, "--objectives", 0, "--out", "out", "--csv")
    assert status == 2
    assert "results.csv: cannot be written" in err
