"""The estimator in a connection gives the estimates that it gives for the same packets alone."""

import asyncio

import pytest
from simulated_call import AUDIO_SSRC, CLOCK_RATES_HZ, KINDS, RTX_SSRC, VIDEO_SSRC, Host, Received, received, run
from weir_aiortc import attach

import weir
from weir_sim.installed import shipped_model

START_US = 1_000_000_000


def by_itself(arrivals: list[Received]) -> list[tuple[int, int, str]]:
    estimator = weir.BandwidthEstimator(weir.Model.load(shipped_model()))
    estimates = [estimator.latest]
    estimator.on_timeout(START_US)
    if estimator.remb_due:
        estimates.append(estimator.latest)
    for one in arrivals:
        now_us = START_US + one.arrival_us
        while estimator.next_timeout_us <= now_us:
            estimator.on_timeout(estimator.next_timeout_us)
            if estimator.remb_due:
                estimates.append(estimator.latest)
        estimator.on_packet(
            arrival_time_us=now_us,
            ssrc=one.rtp.ssrc,
            sequence_number=one.rtp.sequence_number,
            payload_bytes=len(one.rtp.payload),
            kind=KINDS[one.rtp.ssrc],
            abs_send_time=one.rtp.extensions.abs_send_time,
            rtp_timestamp=one.rtp.timestamp,
            rtp_clock_rate_hz=CLOCK_RATES_HZ[one.rtp.ssrc],
            # One extension in the one-byte form: 4 bytes of header, 4 of abs-send-time.
            header_bytes=12 if one.rtp.extensions.abs_send_time is None else 20,
            payload_type=one.rtp.payload_type,
        )
    return [(estimate.at_time_us, estimate.target_rate_bps, estimate.reason) for estimate in estimates]


async def in_a_connection(arrivals: list[Received], host: Host) -> list[tuple[int, int, str]]:
    estimates = []
    attachment = attach(host.pc, on_estimate=estimates.append)
    loop = asyncio.get_running_loop()
    for one in arrivals:
        await asyncio.sleep((START_US + one.arrival_us) / 1e6 - loop.time())
        await host.receive(one.rtp)
    attachment.detach()
    return [(estimate.at_time_us, estimate.target_rate_bps, estimate.reason) for estimate in estimates]


@pytest.mark.parametrize(("loss", "reordering"), [(0.0, 0.0), (0.05, 0.0), (0.0, 0.03), (0.1, 0.05)], ids=str)
def test_the_same_packets_give_the_same_estimates(loss: float, reordering: float) -> None:
    arrivals = received(20, loss=loss, reordering=reordering)
    numbers = [one.rtp.sequence_number for one in arrivals if one.rtp.ssrc == VIDEO_SSRC]
    assert min(numbers) < 100
    assert max(numbers) > 65_500
    expected = by_itself(arrivals)
    host_is_told = run(_told(arrivals))
    assert len(expected) > 20
    assert host_is_told == expected


async def _told(arrivals: list[Received]) -> list[tuple[int, int, str]]:
    return await in_a_connection(arrivals, Host())


def test_aiortc_reads_the_rembs_that_go_out() -> None:
    async def call() -> None:
        host = Host()
        estimates = await in_a_connection(received(10, loss=0.05), host)
        await asyncio.sleep(0)
        rembs = host.rembs()
        assert len(rembs) == len(estimates) > 10
        for (rate_bps, _), (_, target_bps, _) in zip(rembs, estimates, strict=True):
            # 18 bits of mantissa, rounded down.
            assert target_bps * (1 - 2**-17) < rate_bps <= target_bps
        assert set(rembs[-1][1]) == {VIDEO_SSRC, RTX_SSRC, AUDIO_SSRC}

    run(call())
