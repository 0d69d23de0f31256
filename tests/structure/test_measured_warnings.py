"""Figures in texts of `weir whatif` are those of the record in docs/results."""

from pathlib import Path

import pytest

pytest.importorskip("weir_logs")

from weir_eval.measurement import read_measurement
from weir_logs.event_logs.closed_loop import DEVELOPED, HELD_OUT, WARNING


@pytest.mark.parametrize(("name", "accuracy"), [("developed", DEVELOPED), ("held out", HELD_OUT)])
def test_the_warning_has_the_measured_error(name, accuracy):
    values = read_measurement(Path(__file__).parents[2] / "docs/results/whatif.json").values
    measures = ("receive_rate_bps", "network_delay_ms_p95")
    shares = [values[f"{name}/predicted/{measure}/within"].value for measure in measures]
    assert values[f"{name}/paths"].value == accuracy.paths
    assert [accuracy.rate_within, accuracy.delay_within] == pytest.approx(shares, abs=0.005)
    assert all(f"{100 * share:.0f} %" in WARNING for share in shares)
