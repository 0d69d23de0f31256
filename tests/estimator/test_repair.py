"""weir.Repair and the playout delay: what the bindings add to the C++ classes (repair_policy_test.cc)."""

from __future__ import annotations

import pytest

import weir


def choice_after_repairs_of(repair_ms: int) -> str:
    """Loses each 50th packet of 200 a second; its retransmission comes `repair_ms` later. The choice after 10 s."""
    repair = weir.Repair()
    for index in range(2000):
        now_us = 1_000_000 + 5_000 * index
        lost = index - index % 50 - 1
        if lost >= 0 and index % 50 == repair_ms // 5:
            repair.on_retransmission(2, index // 50, lost.to_bytes(2, "big"), now_us)
        if index % 50 != 49:
            repair.on_packet(1, index, now_us)
        if index % 20 == 19:
            repair.choose(1_000_000, now_us)
    return repair.choose(1_000_000, 12_000_000)


def test_a_receiver_chooses_by_the_time_of_repairs() -> None:
    assert choice_after_repairs_of(50) == "nack"
    assert choice_after_repairs_of(200) == "fec"
    assert weir.Repair().choose(0, 1_000_000) == "none"


@pytest.mark.parametrize(
    ("round_trip_us", "loss_ratio", "feedback_loss_ratio", "choice"),
    [(30_000, 0.0, 0.0, "none"), (0, 0.03, 0.0, "none"), (30_000, 0.08, 0.0, "nack"), (30_000, 0.02, 0.4, "fec"),
     (240_000, 0.03, 0.0, "fec"), (30_000, float("nan"), 0.0, "none")],
)  # fmt: skip
def test_a_sender_chooses_by_round_trip_and_losses(
    round_trip_us: int, loss_ratio: float, feedback_loss_ratio: float, choice: str
) -> None:
    assert weir.Repair().choose_at_sender(0, round_trip_us, loss_ratio, feedback_loss_ratio, 1_000_000) == choice


def test_wrong_packets_are_refused() -> None:
    repair = weir.Repair()
    with pytest.raises(ValueError, match="sequence_number must be within"):
        repair.on_packet(1, 65_536, 1_000_000)
    with pytest.raises(ValueError, match="ssrc must be within"):
        repair.on_retransmission(-1, 1, b"", 1_000_000)
    with pytest.raises(ValueError, match="now_us"):
        repair.choose(0, 2**62)
    repair.on_retransmission(1, 1, b"", 1_000_000)


def test_the_playout_delay_rises_at_once_and_falls_slowly() -> None:
    calm = weir.max_playout_delay_us(2_000, 20_000, 33_000)
    assert calm == 100_000
    assert weir.max_playout_delay_us(40_000, 60_000, 33_000, calm) == 250_000
    assert weir.max_playout_delay_us(2_000, 20_000, 33_000, 250_000) == 240_000
    assert weir.max_playout_delay_us(-1, 2**62, -(2**62), 0) == 250_000
    assert weir.MIN_PLAYOUT_DELAY_US == 10_000
