"""Training of Weir's learned policy: the environment, learners, adaptation, and export.

`weir.trainer.gym` is the environment, which needs no torch; `learning`, `policies` and export need it.
"""
