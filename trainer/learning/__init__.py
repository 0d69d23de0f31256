"""From a configuration to checkpoints: networks, learners, evaluation, what a training folder holds."""
