"""Media that are put onto scenarios."""

import pytest

from weir_cli.errors import InputError
from weir_traces.catalogue import bundled_scenarios, load_bundled
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.media import with_media
from weir_traces.schema.scenario import FillerMedia, Scenario, VideoMedia

CALL = VideoMedia(kind="video", rise_time_constant_s=0.6, fall_time_constant_s=0.25)


def test_plain_traces_and_bundled_scenarios_send_the_video_of_a_call():
    plain = scenario_from_capacity(CapacityTrace.constant(1e6), "plain")
    media = {scenario.name: scenario.flows[0].media for scenario in (plain, *bundled_scenarios())}
    assert media.pop("application-limited") == CALL.model_copy(update={"max_rate_bps": 1.5e6})
    assert all(value == CALL for value in media.values())
    assert (CALL.max_rate_bps, CALL.audio_rate_bps) == (2.5e6, 32e3)


def test_media_that_are_of_the_kind_already_are_kept():
    scenario = load_bundled("application-limited")
    assert with_media(scenario, "video") == scenario
    assert with_media(scenario, "filler").flows[0].media == FillerMedia()
    assert with_media(with_media(scenario, "filler"), "video").flows[0].media == CALL


def test_only_flows_under_test_have_other_media():
    flows = [{"kind": "rtp", "id": name, "controller": name} for name in ("under_test", "gcc")]
    link = {"capacity": {"times_s": [0.0], "rates_bps": [1e6]}}
    scenario = Scenario.make(name="two", duration_s=10.0, forward=link, flows=[*flows, {"kind": "tcp"}])
    changed = with_media(scenario, "video", 1e6)
    assert changed.flows[0].media == CALL.model_copy(update={"max_rate_bps": 1e6})
    assert changed.flows[1:] == scenario.flows[1:]
    with pytest.raises(
        InputError, match=r"two: flows\[0\]: media.max_rate_bps \(20000\) must be at least min_rate_bps"
    ):
        with_media(scenario, "video", 20e3)
