"""The published results of ReCoCo (Markudova and Meo, "ReCoCo: Reinforcement learning-based Congestion control for
Real-time applications", HPSR 2023), Tables I and II: what `weir paper recoco` sets its own beside.

The paper's GCC is a Python port called every 200 ms, in another simulator with a path of 100 ms one way; its columns
tell about the paper, and are no measure of libwebrtc's GCC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Algorithm = Literal["ppo", "td3", "sac"]
Order = Literal["random", "reward", "gap"]
ORDERS: Final[tuple[Order, ...]] = ("random", "reward", "gap")
ALGORITHMS: Final[tuple[Algorithm, ...]] = ("ppo", "td3", "sac")


@dataclass(frozen=True)
class PaperScores:
    """ReCoCo Eq. 7, 8, 9 and 10, each 0 to 100."""

    rate: float
    delay: float
    loss: float
    overall: float


@dataclass(frozen=True)
class PaperTrace:
    """One row of both tables.

    Attributes:
        name: stem of the trace's file in OpenNetLab's gym and in the paper's repository.
        label: as the paper writes it.
        algorithm: of the configuration the paper found best for this trace.
        delayed: whether that configuration sees the four intervals before the latest too.
        tuned: whether it uses RL Zoo's hyperparameters instead of stable-baselines3's defaults.
        own: Table I, the model trained on this trace.
        gcc: Table I, the paper's GCC.
        single: Table II, the model trained on all traces, by order.
    """

    name: str
    label: str
    algorithm: Algorithm
    delayed: bool
    tuned: bool
    own: PaperScores
    gcc: PaperScores
    single: dict[Order, PaperScores]


def _trace(
    name: str, label: str, configuration: tuple[Algorithm, bool, bool], *rows: tuple[float, float, float, float]
) -> PaperTrace:
    own, gcc, *single = (PaperScores(*row) for row in rows)
    return PaperTrace(name, label, *configuration, own, gcc, dict(zip(ORDERS, single, strict=True)))


# Each row: receiving rate, delay, loss, overall. Rows: ReCoCo and GCC of Table I; random, reward-based and gap of II.
PAPER_TRACES: Final[tuple[PaperTrace, ...]] = (
    _trace(
        "WIRED_200kbps", "Wired 200kbps", ("td3", False, False),
        (85.60, 98.06, 100.00, 94.46), (93.78, 82.47, 100.00, 91.99),
        (73.38, 97.31, 100.00, 90.14), (76.75, 97.99, 100.00, 91.49), (79.58, 95.55, 100.00, 91.62),
    ),
    _trace(
        "WIRED_900kbps", "Wired 900kbps", ("sac", True, True),
        (75.88, 83.79, 100.00, 86.47), (92.94, 38.37, 100.00, 77.03),
        (78.73, 66.03, 100.00, 81.51), (17.09, 24.56, 100.00, 47.17), (70.69, 63.90, 100.00, 78.12),
    ),
    _trace(
        "WIRED_35mbps", "Wired 35Mbps", ("td3", True, False),
        (20.52, 66.77, 99.13, 62.08), (8.66, 66.51, 99.47, 58.16),
        (0.55, 68.51, 99.52, 56.14), (0.43, 66.67, 99.53, 55.49), (1.93, 72.99, 99.57, 58.10),
    ),
    _trace(
        "4G_500kbps", "4G 500kbps", ("td3", True, True),
        (69.98, 91.52, 99.78, 87.01), (78.81, 76.25, 99.83, 84.88),
        (65.56, 90.68, 100.00, 85.33), (31.06, 93.83, 100.00, 74.89), (75.01, 89.56, 100.00, 88.10),
    ),
    _trace(
        "4G_700kbps", "4G 700kbps", ("td3", True, False),
        (73.67, 86.67, 100.00, 86.69), (59.77, 89.76, 99.84, 83.04),
        (64.12, 89.60, 100.00, 84.49), (23.06, 93.80, 100.00, 72.22), (69.02, 89.40, 100.00, 86.05),
    ),
    _trace(
        "4G_3mbps", "4G 3Mbps", ("sac", True, True),
        (81.91, 91.07, 83.51, 85.41), (12.32, 96.79, 87.38, 65.43),
        (13.69, 85.03, 89.99, 62.84), (5.16, 87.75, 86.42, 59.72), (9.75, 95.55, 84.74, 63.28),
    ),
    _trace(
        "5G_12mbps", "5G 12Mbps", ("td3", True, False),
        (55.95, 72.32, 94.09, 74.04), (4.19, 85.38, 99.82, 63.07),
        (1.66, 80.24, 100.00, 60.57), (1.14, 50.06, 100.00, 50.35), (4.73, 70.74, 100.00, 58.43),
    ),
    _trace(
        "5G_13mbps", "5G 13Mbps", ("td3", False, False),
        (40.54, 61.54, 91.14, 64.34), (5.21, 55.83, 99.99, 53.62),
        (1.53, 62.06, 100.00, 54.48), (1.07, 47.56, 100.00, 49.49), (4.36, 55.92, 99.97, 53.36),
    ),
    _trace(
        "trace_300k", "300kbps", ("td3", True, True),
        (81.88, 79.83, 100.00, 87.15), (99.21, 10.49, 100.00, 69.83),
        (72.51, 2.96, 100.00, 58.43), (46.72, 0.00, 100.00, 48.86), (66.95, 48.43, 100.00, 71.72),
    ),
)  # fmt: skip
