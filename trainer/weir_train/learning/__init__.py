"""From a configuration to checkpoints: networks, learners, evaluation, the contents of a training folder."""
