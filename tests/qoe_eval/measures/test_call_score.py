import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir_eval.measures.call_score import call_score, delay_impairment, freeze_factor, loss_impairment, mean_opinion

PERFECT = {
    "vmaf_mean": 100.0, "concealed_share": 0.0, "freeze_count": 0.0, "frozen_share": 0.0,
    "end_to_end_delay_ms_p50": 80.0,
}  # fmt: skip
HIGHEST = dict(zip(PERFECT, (100, 1, 1e4, 1, 6e4), strict=True))


def score(duration_s=60.0, **changes):
    return call_score(PERFECT | changes, duration_s)


def test_values_of_the_e_model():
    # G.107, Table B.1.
    table = {0: 1.0, 50: 2.58, 60: 3.10, 70: 3.60, 80: 4.03, 90: 4.34, 100: 4.5}
    assert {rating: mean_opinion(rating) for rating in table} == pytest.approx(table, abs=0.01)
    assert mean_opinion(93.2) == pytest.approx(4.41, abs=5e-3)
    # X = 1 and X = 2.
    assert delay_impairment(100) == 0
    assert delay_impairment(200) == pytest.approx(25 * (2 ** (1 / 6) - 3 * (1 + 3**-6) ** (1 / 6) + 2))
    assert delay_impairment(400) == pytest.approx(24.1, abs=0.05)
    # Half of the greatest impairment at Ppl = Bpl.
    assert (loss_impairment(0), loss_impairment(0.251)) == (0, pytest.approx(47.5))


def test_values_of_p_1203():
    assert freeze_factor(0, 0) == 1
    assert freeze_factor(9.35158684, 0) == freeze_factor(0, 0.91890815) == pytest.approx(0.3679, abs=1e-4)


def test_the_weights_that_documents_state():
    assert score() == 100
    assert score(vmaf_mean=90.0) == pytest.approx(89, abs=0.5)
    assert score(concealed_share=0.05) == pytest.approx(97, abs=0.5)
    assert score(freeze_count=1.0) == pytest.approx(90, abs=0.5)
    assert score(frozen_share=0.1) == pytest.approx(90, abs=0.5)
    assert score(end_to_end_delay_ms_p50=400.0) == pytest.approx(75, abs=0.5)
    # No picture, and a call of which nothing is heard.
    assert score(vmaf_mean=0.0) < 20
    assert score(concealed_share=1.0) < 20


def test_the_length_of_a_call_does_not_count():
    assert score(120.0, freeze_count=4.0) == score(30.0, freeze_count=1.0)


@pytest.mark.parametrize("name", PERFECT)
def test_a_missing_part_is_no_score(name):
    assert score(**{name: None}) is None
    assert score(0.0) is None


CALLS = st.fixed_dictionaries({name: st.floats(0, highest) for name, highest in HIGHEST.items()})


@settings(deadline=None)
@given(CALLS, st.sampled_from(list(HIGHEST)), st.data())
def test_each_part_counts_in_its_direction_and_the_score_is_bounded(call, name, data):
    more = call | {name: data.draw(st.floats(call[name], HIGHEST[name]))}
    low, high = (call, more) if name == "vmaf_mean" else (more, call)
    assert 0 <= call_score(low, 60) <= call_score(high, 60) + 1e-9 <= 100 + 2e-9
