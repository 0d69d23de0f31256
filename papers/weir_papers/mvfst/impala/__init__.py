"""IMPALA on Ray: runners on every machine of a cluster sample, one learner corrects by V-trace for acting late."""
