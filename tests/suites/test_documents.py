"""The values of a record."""

from hand_made import record

from weir_suites.documents import _set

DELAY = "end_to_end_delay_ms_p95"


def test_end_to_end_delays_have_a_median_over_the_runs_that_all_controllers_have():
    delays = {"weir": {"a": 100.0, "b": 200.0, "c": 9000.0}, "gcc": {"a": 300.0, "b": 400.0, "c": 500.0, "d": 1.0}}
    records = [record(name, one, **{DELAY: ms}) for one, by in delays.items() for name, ms in by.items()]
    values = {key: value.value for key, value in _set(records, (DELAY, "receive_rate_bps"))}
    assert values[f"weir/{DELAY}"] == 3100
    assert values[f"weir/{DELAY}/median"] == 200
    assert values[f"gcc/{DELAY}/median"] == 400
    assert not [key for key in values if key.endswith("/median") and DELAY not in key]
