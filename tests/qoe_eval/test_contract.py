"""The contract weir.result/1: its JSON Schema is committed, and results of an earlier release still read."""

import json
from pathlib import Path

from weir_eval.measures.table import MEASURES
from weir_eval.records.json_schema import FILE, result_schema
from weir_eval.records.results_file import read_records
from weir_eval.records.run_record import RunRecord

OLD = Path(__file__).parents[1] / "data/contracts/results-1.jsonl"


def test_the_committed_schema_is_that_of_the_code():
    assert FILE.read_text() == result_schema(), "a change of the contract: run python -m weir_eval.records.json_schema"


def test_results_of_the_first_release_still_read():
    documents = [json.loads(line) for line in OLD.read_text().splitlines()]
    records = read_records(OLD, RunRecord)
    assert [record.controller for record in records] == ["weir", "gcc"]
    for record, document in zip(records, documents, strict=True):
        assert record.measures == document["metrics"]["run"]
        assert [flow.id for flow in record.flows] == [flow["id"] for flow in document["flows"]]
        assert {name for name in document["metrics"]["run"] if name in MEASURES.of("replay")} >= {"viewer_quality"}


def test_the_schema_names_every_key_that_results_have():
    (first, _) = (json.loads(line) for line in OLD.read_text().splitlines())
    assert set(first) <= set(json.loads(FILE.read_text())["properties"])
