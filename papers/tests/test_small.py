"""`weir paper all --small` in the real simulator: PolyCC alone, or all papers where WEIR_PAPERS is `all` (minutes)."""

import json
import os

import pytest

from weir_eval.measurement import read_measurement
from weir_papers.polycc.demonstrations import demonstrations
from weir_papers.repeat import REPETITIONS

# Values that the small sizes cannot give: of a search on all nine traces, of an adaptation that ends in time, of a
# policy that is better than none, of Ray, of more than two kinds, and those of Table IV of Muses.
TOO_SMALL = {
    "recoco/off_policy",
    "recoco/delayed",
    "mocc/steps_ratio",
    "mocc/landmarks_3_gain",
    "mocc/landmarks_171_gain",
    "mocc/dqn_gain",
    "mvfst/asynchrony",
    "muses/f1_closed",
    "muses/nearest",
    "muses/jain_3",
    "muses/jain_20",
}


def test_the_small_size_has_a_value_of_every_claim(run_weir, tmp_path, real_simulator):
    every = os.environ.get("WEIR_PAPERS") == "all"
    if every and "WEIR_SHARED" not in os.environ:
        pytest.skip("all papers need the traces in the folder that WEIR_SHARED names")
    names = {repetition.name for repetition in REPETITIONS} if every else {"polycc"}
    only = [word for name in sorted(names) for word in ("--only", name)]
    status, output, errors = run_weir("paper", "all", "--small", "--out", "out", *only)
    assert status == 0, errors
    found = read_measurement(tmp_path / "out/papers.json")
    claims = [claim for repetition in REPETITIONS if repetition.name in names for claim in repetition.claims]
    assert {claim.key for claim in claims} - set(found.values) <= TOO_SMALL
    assert found.origins.keys() == names
    assert all(claim.description[:40] in " ".join(output.split()) for claim in claims[:1])
    polycc = json.loads((tmp_path / "out/polycc/polycc.json").read_text())
    rows = {row["name"]: row for row in polycc["rows"]}
    assert polycc["run"]["runs"] == len(demonstrations())
    # The paper's qualitative claims.
    assert rows["bbr_idles"]["value"] < 0.55
    assert rows["jitter100"]["value"] > 1.82
    assert 0.541 < rows["halved"]["value"] < 1
    assert rows["halved_bbr2"]["reached"] is None
    assert "± 100" in (tmp_path / "out/polycc/polycc.md").read_text()
