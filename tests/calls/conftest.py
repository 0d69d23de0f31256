from shared_fixtures import chromium, virtual_call_program

__all__ = ["chromium", "virtual_call_program"]
