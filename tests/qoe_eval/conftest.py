from shared_fixtures import chromium, fake_simulator, made, misbehave, results, scenarios

__all__ = ["chromium", "fake_simulator", "made", "misbehave", "results", "scenarios"]
