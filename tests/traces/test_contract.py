"""The contract weir.scenario/1: its JSON Schema is committed, and a document of an earlier release still reads."""

import json
from pathlib import Path

from weir_traces.schema.json_schema import FILE, scenario_schema
from weir_traces.schema.scenario import Scenario

OLD = Path(__file__).parents[1] / "data/contracts/scenario-1.json"


def test_the_committed_schema_is_that_of_the_code() -> None:
    assert FILE.read_text() == scenario_schema(), "the contract changed: python -m weir_traces.schema.json_schema"


def test_a_document_of_the_first_release_still_reads() -> None:
    document = json.loads(OLD.read_text())
    scenario = Scenario.load(OLD)
    assert scenario.to_dict()["schema"] == document["schema"] == "weir.scenario/1"
    assert [flow.kind for flow in scenario.flows] == [flow["kind"] for flow in document["flows"]]
    assert scenario.forward.capacity.trace().rates_bps.tolist() == document["forward"]["capacity"]["rates_bps"]


def test_the_schema_names_every_key_that_documents_have() -> None:
    schema = json.loads(FILE.read_text())
    assert set(json.loads(OLD.read_text())) <= set(schema["properties"])
    assert set(schema["required"]) == {"schema", "name", "duration_s", "forward", "reverse", "flows"}
