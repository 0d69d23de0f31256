"""Training of Weir's learned policy: the environment, learners, adaptation, and export.

`weir.trainer.gym` is the environment; only `weir.trainer.learning` and `weir.trainer.policies` need torch.
"""
