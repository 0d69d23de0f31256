from shared_fixtures import chromium, fake_simulator, make_record, misbehave, scenarios

__all__ = ["chromium", "fake_simulator", "make_record", "misbehave", "scenarios"]
