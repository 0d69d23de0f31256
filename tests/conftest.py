import signal

import pytest


def pytest_configure():
    # A shell lets what it starts in the background ignore interrupts, and children inherit that; tests send them.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def interruptible():
    """The command `weir`, where a test runs it in this process, leaves Ctrl-C to the system."""
    yield
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
