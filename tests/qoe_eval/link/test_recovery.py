"""Recovery after a dip, on links made by hand: 10 samples a second."""

import numpy as np
import pytest

from weir.qoe_eval.link.log import LinkLog
from weir.qoe_eval.link.recovery import mean_recovery_time_s


def recovery_s(*parts):
    """`parts`: (seconds, capacity in Mbps, received Mbps)."""
    capacity = np.concatenate([np.full(round(10 * seconds), mbps * 1e6) for seconds, mbps, _ in parts])
    received = np.concatenate([np.full(round(10 * seconds), mbps * 1e6 / 80) for seconds, _, mbps in parts])
    columns = dict.fromkeys(LinkLog.__dataclass_fields__, np.zeros(len(capacity)))
    times = 1e5 * np.arange(1, len(capacity) + 1)
    return mean_recovery_time_s(LinkLog(**columns | {"time_us": times, "capacity_bps": capacity, "bytes": received}))


def test_the_time_counts_from_a_second_at_the_old_rate():
    # The path is back at 12 s, has carried 2 Mbps for a second at 13 s; 80 % are received over a second at 17 s.
    found = recovery_s((10, 2, 2), (2, 0.5, 0.5), (4, 2, 0.8), (6, 2, 2))
    assert found == pytest.approx(17 - 13 - 0.5, abs=0.35)
    assert recovery_s((10, 2, 2), (2, 0.5, 0.5), (10, 2, 2)) == pytest.approx(0)


def test_the_mean_of_dips():
    one = ((10, 2, 2), (2, 0.5, 0.5))
    slow, fast = (4, 2, 0.8), (8, 2, 2)
    assert recovery_s(*one, slow, fast, *one, fast) == pytest.approx(recovery_s(*one, slow, fast) / 2, abs=0.11)


def test_a_path_without_a_dip_has_none():
    assert recovery_s((20, 2, 2)) is None
    # Half of what the path carries was enough.
    assert recovery_s((10, 2, 0.5), (2, 0.5, 0.5), (10, 2, 0.5)) is None
    assert recovery_s((10, np.nan, 2), (10, np.nan, 1)) is None
    # The path never comes back, or falls again before anyone could recover.
    assert recovery_s((10, 2, 2), (10, 0.5, 0.5)) is None
    assert recovery_s((10, 2, 2), (2, 0.5, 0.5), (1.5, 2, 0.5), (20, 0.5, 0.5)) is None
    assert recovery_s((0.2, 2, 2)) is None


def test_a_call_that_never_recovers_counts_to_its_end():
    assert recovery_s((10, 2, 2), (2, 0.5, 0.5), (9, 2, 0.5)) == pytest.approx(8.1, abs=0.2)
