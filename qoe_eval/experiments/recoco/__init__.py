"""`weir experiment recoco`: the ReCoCo paper's experiment, its tables beside the published ones."""
