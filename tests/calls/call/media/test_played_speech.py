"""Windows of played audio."""

import numpy as np

from weir_calls.call.media.played_speech import windows, without_start


def test_windows_cover_a_call_and_their_number_is_bounded():
    def starts(size):
        return [int(window[0]) for window in windows(np.arange(size, dtype=float), 100)]

    assert starts(99) == []
    assert starts(100) == starts(149)[:1] == [0]
    assert starts(599) == [0, 99, 199, 299, 399, 499]
    assert (len(starts(5000)), starts(5000)[-1]) == (12, 4900)
    assert all(len(window) == 100 for window in windows(np.zeros(777), 100))


def test_zeros_before_the_first_packet_are_left_out():
    heard = np.concatenate([np.zeros(50), np.ones(100)])
    assert len(without_start(heard, 80)) == 100
    assert len(without_start(heard, 120)) == 120
    assert len(without_start(heard, 200)) == 150
    assert len(without_start(np.zeros(0), 200)) == 0
