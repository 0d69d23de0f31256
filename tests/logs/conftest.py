from shared_fixtures import chromium, fake_simulator, make_record, misbehave, scenarios, virtual_call_program

__all__ = ["chromium", "fake_simulator", "make_record", "misbehave", "scenarios", "virtual_call_program"]
