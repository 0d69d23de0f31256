from shared_fixtures import fake_simulator

__all__ = ["fake_simulator"]
