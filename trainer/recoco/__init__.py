"""ReCoCo's models, trained in this simulator, and that paper's published tables."""
