"""`weir whatif` on recordings of RTP, and the differences of targets."""

import gzip
import json

import numpy as np
import pytest
from made_packets import pcap, pcapng, rtpdump, stream

from weir_logs.event_logs.open_loop import Targets, difference


@pytest.mark.parametrize("write", [rtpdump, pcap, pcapng])
def test_the_estimator_sees_the_path_of_a_recording(write, run_weir, tmp_path):
    path = tmp_path / "recording"
    path.write_bytes(write(stream(duration_s=40, rate_bps=1_500_000, capacity_bps=1_000_000)))
    status, printed, error = run_weir("whatif", path, "--controller", "rule", "--controller", "gcc-remb", "--json")
    assert status == 0, error
    found = json.loads(printed)
    assert "extension 3" in found["note"]
    rule, gcc_remb = found["controllers"]
    # More is sent than the path carries, so a queue grows: both say less than what is sent.
    assert rule["lowest_kbps"] < 1100
    assert gcc_remb["lowest_kbps"] < 1100
    assert (tmp_path / "weir-whatif/report.html").is_file()


def test_a_packed_capture_is_refused_with_the_way_to_read_it(run_weir, tmp_path):
    path = tmp_path / "recording.pcap.gz"
    path.write_bytes(gzip.compress(pcap(stream(duration_s=2))))
    status, _, error = run_weir("whatif", path, "--controller", "rule")
    assert (status, error) == (2, f"weir: {path}: is packed with gzip; unpack it first\n")


def test_a_byte_that_is_no_text_in_a_controller_is_refused(run_weir, tmp_path):
    path = tmp_path / "recording"
    path.write_bytes(rtpdump(stream(duration_s=2)))
    for controller in ("a=\udcff", "pilot=weir fusion=\ud800"):
        status, _, error = run_weir("whatif", path, "--controller", controller)
        assert status == 2
        assert "is no UTF-8 text; correct it" in error


def test_a_free_path_lets_targets_rise(run_weir, tmp_path):
    path = tmp_path / "recording"
    path.write_bytes(rtpdump(stream(duration_s=20, rate_bps=1_000_000)))
    status, printed, error = run_weir("whatif", path, "--controller", "rule", "--json")
    assert status == 0, error
    assert json.loads(printed)["controllers"][0]["highest_kbps"] > 1500


def test_controllers_at_the_sender_need_packets_that_were_sent(run_weir, tmp_path):
    path = tmp_path / "recording"
    path.write_bytes(rtpdump(stream(duration_s=2)))
    status, _, error = run_weir("whatif", path, "--controller", "gcc")
    assert status == 2
    assert "packets sent" in error


def test_a_path_is_not_estimated_from_packets_without_feedback(run_weir, tmp_path):
    path = tmp_path / "recording"
    path.write_bytes(rtpdump(stream(duration_s=2)))
    status, _, error = run_weir("whatif", path, "--closed-loop")
    assert status == 2
    assert "feedback about 0 packets" in error


@pytest.mark.parametrize("write", [rtpdump, pcap])
def test_a_recording_with_a_time_weeks_away_is_refused_before_it_takes_memory(write, run_weir, tmp_path):
    path = tmp_path / "recording"
    packets = stream(duration_s=2)
    path.write_bytes(write([*packets, (4e6, packets[-1][1])]))
    status, _, error = run_weir("whatif", path, "--controller", "rule")
    assert status == 2
    assert "1,111 hours from its first event to its last; give a log of a day at most" in error


@pytest.mark.parametrize("name", ["oracle", "./own.py:Own", "nothing"])
def test_controllers_that_cannot_run_are_refused(name, run_weir, tmp_path):
    path = tmp_path / "recording"
    path.write_bytes(rtpdump(stream(duration_s=2)))
    status, _, error = run_weir("whatif", path, "--controller", name)
    assert status == 2
    assert error.count("\n") == 1


def test_differences_are_in_percent_of_the_logged_target():
    logged = Targets("logged", np.array([0.0, 5.0]), np.array([1e6, 2e6]))
    other = Targets("gcc", np.array([0.0, 5.0]), np.array([1.1e6, 2e6]))
    found = difference(other, logged, 10.0)
    assert found is not None
    assert found.p95_percent == pytest.approx(10)
    assert found.mean_percent == pytest.approx(100 / 30, abs=0.1)
    assert difference(Targets("none", np.empty(0), np.empty(0)), logged, 10.0) is None


def test_a_target_that_came_down_to_one_value_twice_had_a_minimum():
    def floor(*kbps):
        return Targets("logged", np.arange(len(kbps), dtype=float), 1e3 * np.array(kbps, dtype=float)).floor_bps()

    assert floor(300, 150, 150, 180, 150, 170) == 150_000
    assert floor(300, 150, 150, 180, 151, 170) is None
    assert floor() is None
