import signal


def pytest_configure():
    # A shell lets what it starts in the background ignore interrupts, and children inherit that; tests send them.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
