import numpy as np
import pytest

from weir_calls.call.call_stages import call_stages
from weir_calls.call.media.received_frames import ReceivedFrame
from weir_eval.measures.delay_stages import STAGES
from weir_eval.webrtc_stats import StatsReports

DELAY_US = 200_000


def frame(captured_s, arrival=True, capture=True):
    captured_us = round(1e6 * captured_s)
    arrived_us = captured_us + 120_000 if arrival else None
    capture_us = captured_us if capture else None
    return ReceivedFrame(0, capture_us, captured_us + DELAY_US, None, 640, 360, None, arrived_us)


def reports(kind, **counters):
    """Reports at 0, 1 and 2 s with these values of the one video stream."""
    found = StatsReports()
    for time_s in range(3):
        values = {name: series[time_s] for name, series in counters.items()}
        found.add(float(time_s), [{"id": "V", "type": kind, "kind": "video", **values}])
    return found


SENDER = reports(
    "outbound-rtp", totalEncodeTime=[0, 0.3, 0.9], framesEncoded=[0, 30, 60], totalPacketSendDelay=[0, 1.0, 6.0],
    packetsSent=[0, 100, 200],
)  # fmt: skip
RECEIVER = reports(
    "inbound-rtp", jitterBufferTargetDelay=[0, 1.2, 4.2], jitterBufferMinimumDelay=[0, 0.6, 1.2],
    jitterBufferEmittedCount=[0, 30, 60],
)  # fmt: skip


def test_a_frame_has_the_means_of_the_second_in_which_it_was_captured_and_rendered():
    frames = [frame(0.5), frame(1.5)]
    found = call_stages(frames, RECEIVER, SENDER)
    assert found == pytest.approx(np.array([[10, 10, 100, 60, 20], [20, 50, 50, 0, 80]]))


def test_the_stages_of_frames_add_up_to_their_end_to_end_delay():
    found = call_stages([frame(n / 30) for n in range(60)], RECEIVER, SENDER)
    assert found.sum(axis=1) == pytest.approx(np.full(60, DELAY_US / 1e3))


def test_frames_of_unknown_capture_or_arrival_are_left_out():
    frames = [frame(0.5), frame(0.6, arrival=False), frame(0.7, capture=False)]
    assert len(call_stages(frames, RECEIVER, SENDER)) == 1


@pytest.mark.parametrize(("receiver", "sender"), [(StatsReports(), SENDER), (RECEIVER, StatsReports())])
def test_without_getstats_of_both_ends_there_are_no_stages(receiver, sender):
    assert call_stages([frame(0.5)], receiver, sender).shape == (0, len(STAGES))
    assert call_stages([], RECEIVER, SENDER).shape == (0, len(STAGES))
