"""Training of Weir's learned policy: the environment, learners, adaptation, and export.

The environment, `weir_train.gym`, does not need torch; `learning`, `policies` and export do.
"""
