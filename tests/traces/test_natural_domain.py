"""Mixtures of ordinary networks: reproducible, each trouble apart, apart from what training draws."""

from collections import Counter

import pytest

from weir_traces.generate.natural_domain import natural_scenario, troubles_of
from weir_traces.generate.natural_grids import natural_grids
from weir_traces.schema.scenario import Scenario, VideoMedia

SEEDS = range(400)


@pytest.fixture(scope="module")
def many() -> list[Scenario]:
    return [natural_scenario(seed) for seed in SEEDS]


def test_a_seed_decides_everything(many: list[Scenario]) -> None:
    assert [natural_scenario(seed) for seed in range(5)] == many[:5]
    assert len({scenario.to_json().split('"duration_s"')[1] for scenario in many}) == len(many)
    assert all(Scenario.from_json(scenario.to_json()) == scenario for scenario in many)


def test_every_trouble_comes_often_and_those_of_one_kind_never_together(many: list[Scenario]) -> None:
    drawn = [troubles_of(seed) for seed in SEEDS]
    found = Counter(trouble for troubles in drawn for trouble in troubles)
    assert min(found.values()) >= 15
    assert len(found) == 23
    kinds = [[trouble.partition("-")[0] for trouble in troubles] for troubles in drawn]
    assert all(len(set(some)) == len(some) for some in kinds)
    assert [scenario.description for scenario in many] == [", ".join(some) or "a plain call" for some in drawn]


def test_without_a_trouble_the_others_stay() -> None:
    for seed in SEEDS:
        whole = natural_scenario(seed).to_dict()
        for trouble in troubles_of(seed):
            without = natural_scenario(seed, trouble)
            assert without.name == f"natural-{seed}-without-{trouble}"
            document = without.to_dict()
            differing = {part for part in ("forward", "reverse", "flows") if document[part] != whole[part]}
            expected = {"reverse": {"reverse"}, "round": {"forward", "reverse"}}
            changed = {"clock", "tcp", "content"} & {trouble.partition("-")[0]}
            assert differing <= expected.get(trouble.partition("-")[0], {"flows"} if changed else {"forward"})


def test_the_domain_covers_its_documented_ranges(many: list[Scenario]) -> None:
    rates = [scenario.forward.capacity.rates_bps[0] for scenario in many if scenario.forward.capacity]
    assert min(rates) < 70e3
    assert max(rates) > 300e6
    clocks = [abs(scenario.flows[0].sender_clock_ppm or 0) for scenario in many]
    assert 2500 < max(clocks) <= 3000
    delays = [scenario.forward.one_way_delay_ms for scenario in many]
    assert 350 < max(delays) <= 400
    screens = [
        flow.media.frames_per_second for scenario in many if isinstance((flow := scenario.flows[0]).media, VideoMedia)
    ]
    assert (min(screens), max(screens)) == (5, 30)


def test_the_grids_have_a_scenario_for_each_name() -> None:
    scenarios = [
        scenario
        for family in natural_grids().values()
        for media in family.media
        for scenario in family.scenarios(media)
    ]
    assert len({scenario.name for scenario in scenarios}) == len(scenarios) == 128 + 36 + 24 + 18 + 12
