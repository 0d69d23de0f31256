"""The error of the estimated path comes first."""

from weir_logs.event_logs.closed_loop import error_text

RATE, DELAY = "receive_rate_bps", "network_delay_ms_p95"


def test_differences_within_the_error_are_named():
    found = {
        "logged": {RATE: 1286e3, DELAY: 100.0},
        "weir": {RATE: 1603e3, DELAY: 50.0},
        "gcc": {RATE: 1524e3, DELAY: 96.0},
    }
    assert error_text(found, "gcc") == (
        "Error on this path (gcc again, against its log): rate +19 %, p95 delay −4 %. Within it: the difference in "
        "rate of weir and gcc."
    )
    assert "add it" in error_text(found, "scream")
