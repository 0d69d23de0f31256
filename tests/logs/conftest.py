from shared_fixtures import chromium, fake_simulator, made, results, virtual_call_program

__all__ = ["chromium", "fake_simulator", "made", "results", "virtual_call_program"]
