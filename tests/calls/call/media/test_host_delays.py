"""The delays that a machine adds to calls, as host noise is fitted to."""

import numpy as np
import pytest

from weir_calls.call.media.host_delays import HostDelays, camera_lateness_ms, read_host_delays
from weir_calls.call.media.received_frames import ReceivedFrame


def captured_at(*times_us):
    return [ReceivedFrame(0, time, 0, None, 0, 0, None) for time in times_us]


def test_pictures_are_late_against_those_around_them():
    times_us = [round(1e6 * index / 30) for index in range(300)]
    times_us[100] += 5000
    late_ms = camera_lateness_ms(captured_at(None, *times_us))
    assert late_ms[100] == pytest.approx(5, abs=0.01)
    assert np.delete(late_ms, 100) == pytest.approx(np.zeros(299), abs=0.01)


def test_without_capture_times_there_is_nothing():
    assert len(camera_lateness_ms(captured_at(None, None))) == 0


def test_shares_of_late_packets():
    on_time, late = np.zeros(12), np.zeros(12)
    on_time[0], late[5] = 3, 1
    delays = HostDelays(packets=[on_time, on_time + late])
    assert delays.later_than()[:6] == pytest.approx([1 / 7] * 5 + [0])
    assert delays.late_shares() == pytest.approx([0, 0.25])


def test_a_folder_without_calls(tmp_path):
    assert read_host_delays([tmp_path]) == {}
