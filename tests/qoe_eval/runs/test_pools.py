"""Pools of controllers in replays: their lines, the models they name, their part of a report."""

import json
import shutil
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_eval.options.shared import check_controllers
from weir_eval.records.run_record import RunRecord
from weir_eval.report.sections.estimators import pools
from weir_eval.runs.jobs import ReplayPlan, plan_jobs
from weir_sim.controllers import is_pool, pool_members, uses_model

MODEL = Path(__file__).parents[3] / "estimator" / "models" / "weir.onnx"


def test_a_line_is_named_by_its_shortest_form():
    names, own = check_controllers(
        ["rule", "fusion=min  copilots=nada pilot=weir", "pilot=weir copilots=nada fusion=min"], 1
    )
    assert names == ["rule", "pilot=weir copilots=nada fusion=min"]
    assert own == {}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pilot=weir fusion=sum", 'character 19: "sum" is not known'),
        ("copilots=nada", "pilot=MEMBER is missing"),
        ("pilot=weir:/no/such.onnx", "no such file"),
        ("pilot=weir copilots=weir:.", "is no file"),
    ],
)
def test_invalid_pools_are_refused_before_anything_runs(line, message):
    with pytest.raises(InputError, match=message):
        check_controllers([line], 1)


def test_field_trials_are_a_part_of_the_name():
    line = "gcc:WebRTC-Bwe-LossBasedBweV2/Enabled:false/"
    assert check_controllers([line, "gcc"], 1) == ([line, "gcc"], {})
    with pytest.raises(InputError, match="each needs a name and a group"):
        check_controllers(["gcc:A/B"], 1)
    with pytest.raises(InputError, match="nada has no field trials; gcc and scream do"):
        check_controllers(["nada:A/B/"], 1)


def test_only_a_pool_with_weir_needs_the_model():
    assert uses_model("pilot=nada copilots=weir fusion=min")
    assert not uses_model("pilot=nada copilots=weir:other.onnx")
    assert pool_members("pilot=a copilots=b,c") == ("a", "b", "c")
    assert is_pool("pilot=a")
    assert not is_pool("gcc-remb")


def test_another_model_behind_the_same_name_is_another_run(fake_simulator, scenarios, tmp_path):
    second = tmp_path / "second.onnx"
    line = f"pilot=nada copilots=weir:{second} fusion=min"

    def keys(content):
        second.write_bytes(content)
        return set(plan_jobs(ReplayPlan(scenarios, [line], (0.4, 0.5, 0.1), [1], None, fake_simulator)))

    first = keys(b"1")
    assert keys(b"1") == first
    assert not keys(b"2") & first


def test_pools_run_and_their_records_have_the_active_controllers(run_weir, tmp_path):
    second = tmp_path / "second.onnx"
    shutil.copy(MODEL, second)
    lines = [
        "pilot=weir copilots=nada,rule fusion=min policy=by_trust",
        f"pilot=weir copilots=weir:{second} fusion=mean",
    ]
    options = [word for line in ("weir", *lines) for word in ("--controller", line)]
    run_weir("replay", "catalogue/steady-1m", *options, "--seeds", "0", "--out", str(tmp_path / "out"))
    records = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    by_name = {record["controller"]: record for record in records}
    assert set(by_name) == {"weir", *lines}
    members = by_name[lines[0]]["flows"][0]["pool"]["members"]
    assert [(member["name"], member["pilot_share"], member["faults"]) for member in members] == [
        ("weir", 1, 0), ("nada", 0, 0), ("rule", 0, 0),
    ]  # fmt: skip
    # Two of the same model are as one.
    score = {name: record["metrics"]["run"]["challenge"] for name, record in by_name.items()}
    assert score[lines[1]] == pytest.approx(score["weir"], abs=0.2)
    section = pools([RunRecord.model_validate(by_name[line]) for line in lines])
    assert section is not None
    assert [row.cells[2].text for row in section.blocks[1].rows][:3] == ["weir", "nada", "rule"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Share of decisions as the active controller" in page
    assert "--c-pilot_weir_copilots_nada_rule_fusion_min_policy_by_trust:" in page
