"""ReCoCo (HPSR 2023): one model for all traces, trained in three orders."""
