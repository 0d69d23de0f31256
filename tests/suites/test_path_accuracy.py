"""Errors of paths that were estimated from event logs."""

import pytest

pytest.importorskip("weir_logs")

from weir_suites.path_accuracy import PathError, summary


def test_the_errors_of_paths_are_counted_by_their_size():
    rates, delays = (0.1, -0.2, 0.0, -0.14), (0.2, 0.2, -0.3, 0.0)
    errors = [
        PathError(str(n), {"receive_rate_bps": rates[n], "network_delay_ms_p95": delays[n]},
                  {"receive_rate_bps": 0.0, "network_delay_ms_p95": 0.0}, 0.01 * n)
        for n in range(4)
    ]  # fmt: skip
    found = summary(errors)
    assert found["predicted/receive_rate_bps/within"] == found["predicted/network_delay_ms_p95/within"] == 0.75
    assert found["predicted/both/within"] == 0.5
    assert found["repeated/both/within"] == 1
    assert (found["open_loop/within"], found["open_loop/p50"]) == (0.75, 0.015)
    assert found["path/1/receive_rate_bps"] == -0.2
