from shared_fixtures import chromium

__all__ = ["chromium"]
