"""ReCoCo's experiment (Markudova and Meo 2023), as `weir experiment recoco` repeats it."""

from weir.trainer.configuration.curriculum import TraceValues
from weir.trainer.gym.step import StepRecord
from weir.trainer.recoco.experiment import (
    DEPARTURES,
    RecocoModel,
    drop_replay_buffer,
    mean_reward,
    models_of_all_traces,
    models_of_traces,
    order_of_model,
    run_policy,
    train_model,
    trained_policy,
)
from weir.trainer.recoco.tables import ORDERS, PAPER_TRACES, Order, PaperScores, PaperTrace

__all__ = [
    "DEPARTURES",
    "ORDERS",
    "PAPER_TRACES",
    "Order",
    "PaperScores",
    "PaperTrace",
    "RecocoModel",
    "StepRecord",
    "TraceValues",
    "drop_replay_buffer",
    "mean_reward",
    "models_of_all_traces",
    "models_of_traces",
    "order_of_model",
    "run_policy",
    "train_model",
    "trained_policy",
]
