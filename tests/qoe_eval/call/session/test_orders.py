"""Orders to a running call: accepted, or refused with a message."""

from __future__ import annotations

from typing import Any

import pytest

from weir.errors import InputError
from weir.qoe_eval.call.orders import checked_order


def test_weights_are_divided_by_their_sum() -> None:
    order = checked_order({"type": "objective", "throughput": 0.2, "latency": 0.2, "loss": 0.1})
    assert order == {"type": "objective", "throughput": 0.4, "latency": 0.4, "loss": 0.2}


@pytest.mark.parametrize("value", [0, -1, 10**400, -(10**400), float("nan"), float("inf"), 1e9, True, None, "1", [1]])
def test_what_is_no_number_in_its_bounds_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InputError, match=r"duration_s: a number from 0\.001 to 3600"):
        checked_order({"type": "down", "duration_s": value})
    with pytest.raises(InputError, match="objective: three weights"):
        checked_order({"type": "objective", "throughput": 1, "latency": value, "loss": 1})
