"""This aiortc has the private names that the plug-in uses; a missing one is an error that names it."""

import inspect
from importlib.metadata import version

import pytest
from aiortc import RTCPeerConnection
from aiortc.rtcdtlstransport import RTCDtlsTransport, RtpRouter
from simulated_call import Host, run
from weir_aiortc import UnsupportedAiortcError, attach
from weir_aiortc.transport_tap import TESTED_VERSION


def test_aiortc_has_the_methods_that_are_overridden() -> None:
    assert list(inspect.signature(RTCDtlsTransport._handle_rtp_data).parameters) == ["self", "data", "arrival_time_ms"]
    assert inspect.iscoroutinefunction(RTCDtlsTransport._handle_rtp_data)
    assert list(inspect.signature(RtpRouter.route_rtp).parameters) == ["self", "packet"]
    assert not inspect.iscoroutinefunction(RtpRouter.route_rtp)
    assert list(inspect.signature(RtpRouter.route_rtcp).parameters) == ["self", "packet"]
    assert inspect.iscoroutinefunction(RTCDtlsTransport._send_rtp)
    assert RtpRouter().ssrc_table == {}


@pytest.mark.parametrize(
    ("owner", "name"), [(RTCDtlsTransport, "_handle_rtp_data"), (RtpRouter, "route_rtp"), (RtpRouter, "route_rtcp")]
)
def test_a_name_that_is_missing_is_named(owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def call() -> None:
        host = Host()
        monkeypatch.delattr(owner, name)
        with pytest.raises(UnsupportedAiortcError, match=rf"{owner.__name__}\.{name}.*install aiortc 1\.16\.0"):
            attach(host.pc)

    run(call())


def test_a_connection_that_has_not_negotiated_yet_can_be_attached() -> None:
    async def call() -> None:
        pc = RTCPeerConnection()
        attachment = attach(pc)
        assert attachment.statistics()["packets_received"] == 0
        await pc.close()

    run(call())


def test_the_version_that_is_named_is_the_one_that_is_tried() -> None:
    assert version("aiortc") == TESTED_VERSION
