"""The configuration of a search that takes seconds."""


def tiny_search(steps=768, trials=2, rungs=2):
    """The text of its TOML file."""
    return f"""
name = "tiny"
steps = {steps}
checkpoint_every_steps = 128
[environment]
environments = 2
interval_ms = 200
history = 2
features = ["receive_rate_bps", "queueing_delay_min_s", "packets_received", "last_estimate_bps"]
[policy]
hidden = [8]
[ppo]
steps_per_update = 32
batch_size = 64
[tune]
trials = {trials}
rungs = {rungs}
scenarios = 3
scenario_duration_s = 5.0
[tune.parameters]
"ppo.learning_rate" = {{ low = 1e-4, high = 1e-2, log = true }}
"policy.hidden" = {{ choices = [[8], [16, 8]] }}
"""
