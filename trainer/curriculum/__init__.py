"""Which trace, or which landmark objective, is trained when."""
