import numpy as np
import pytest

from weir_eval.measures.statistics import bootstrap_interval, compare_paired, mean_interval, spread
from weir_eval.measures.table import MEASURES

CHALLENGE, LOSS = MEASURES["challenge"], MEASURES["loss_ratio"]


def values(**by_scenario):
    return {(name, seed): value for name, row in by_scenario.items() for seed, value in enumerate(row, start=1)}


def test_spread_of_a_known_sample():
    found = spread(CHALLENGE, values(a=range(0, 51), b=range(51, 101)))
    assert (found.mean, found.p5, found.p95, found.worst, found.n) == (50, 5, 95, 0, 101)


def test_worst_depends_on_what_is_better():
    assert spread(LOSS, values(a=[0.0, 0.3])).worst == 0.3
    assert spread(CHALLENGE, values(a=[0.0, 0.3])).worst == 0.0
    assert spread(CHALLENGE, {}) is None


def test_only_common_runs_are_compared():
    found = compare_paired(CHALLENGE, values(a=[10, 20], b=[30]), values(a=[8], b=[29], c=[100]))
    assert (found.n, found.independent, found.wins, found.losses) == (2, 2, 2, 0)
    assert found.mean == pytest.approx(1.5)
    assert compare_paired(CHALLENGE, values(a=[1]), values(b=[1])) is None


def test_wins_are_counted_over_scenarios_ties_are_none_and_lower_is_better_where_it_is():
    found = compare_paired(
        LOSS, values(a=[0.1, 0.1, 0.4], b=[0.2], c=[0.1, 0.2]), values(a=[0.2, 0.2, 0.1], b=[0.2], c=[0.2, 0.2])
    )
    # a has two better runs of three, and a worse mean.
    assert (found.wins, found.losses, found.independent, found.n) == (1, 1, 3, 6)
    # The mean over scenarios is -0.0167: c's first run and two of a's are lower.
    assert found.agreeing == 3


def test_scenarios_weigh_alike_whatever_their_number_of_seeds():
    found = compare_paired(CHALLENGE, values(a=[1, 1, 1], b=[5]), values(a=[0, 0, 0], b=[0]))
    assert found.mean == pytest.approx(3.0)


def test_more_seeds_of_the_same_scenarios_do_not_narrow_the_interval():
    once = {name: [level] for name, level in zip("abcdef", (1, 4, 2, 8, 5, 7), strict=True)}
    often = {name: level * 20 for name, level in once.items()}
    zero = {name: [0] for name in once}
    zeros = {name: [0] * 20 for name in once}
    assert (
        compare_paired(CHALLENGE, values(**once), values(**zero)).ci95
        == compare_paired(CHALLENGE, values(**often), values(**zeros)).ci95
    )


@pytest.mark.parametrize("scenarios", [1, 3, 5])
def test_fewer_than_six_scenarios_give_no_interval_however_many_seeds(scenarios):
    a = values(**{f"s{index}": [index + seed / 10 for seed in range(50)] for index in range(scenarios)})
    zero = dict.fromkeys(a, 0.0)
    assert compare_paired(CHALLENGE, a, zero).ci95 == (None, None)
    assert spread(CHALLENGE, a).ci95 == (None, None)
    assert spread(CHALLENGE, a).independent == scenarios


def test_six_scenarios_give_one():
    a = values(**{f"s{index}": [index] for index in range(6)})
    low, high = compare_paired(CHALLENGE, a, dict.fromkeys(a, 0.0)).ci95
    assert low < 2.5 < high


def test_the_interval_covers_as_often_as_it_says():
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(200):
        differences = generator.normal(1.0, 2.0, 24)
        low, high = bootstrap_interval(differences)
        covered += low <= 1.0 <= high
    assert 178 <= covered <= 198  # 95 % of 200 is 190; a bootstrap of 24 samples covers a little less


def test_the_interval_of_a_large_normal_sample_is_the_normal_one():
    differences = np.random.default_rng(3).normal(0.0, 1.0, 400)
    low, high = bootstrap_interval(differences)
    half = 1.96 * differences.std(ddof=1) / 20
    assert low == pytest.approx(differences.mean() - half, abs=0.015)
    assert high == pytest.approx(differences.mean() + half, abs=0.015)


def test_intervals_are_reproducible():
    values = np.random.default_rng(1).random(12)
    assert bootstrap_interval(values) == bootstrap_interval(values)


def test_degenerate_samples():
    assert bootstrap_interval(np.arange(5.0)) == (None, None)
    assert bootstrap_interval(np.ones(6)) == (1.0, 1.0)
    assert bootstrap_interval(np.zeros(6)) == (0.0, 0.0)
    low, high = bootstrap_interval(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    assert 0 <= low <= high <= 1


@pytest.mark.parametrize("count", [6, 8, 12])
@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda generator, shape: generator.normal(0, 1, shape), 0.06),
        (lambda generator, shape: generator.standard_t(3, shape), 0.06),
        (lambda generator, shape: generator.exponential(1, shape) - 1, 0.065),
        (lambda generator, shape: generator.lognormal(0, 1, shape) - np.exp(0.5), 0.11),
    ],
    ids=["normal", "heavy tails", "skewed", "very skewed"],
)
def test_few_scenarios_without_a_difference_rarely_have_an_interval_without_0(count, draw, most):
    ends = np.array([mean_interval(values) for values in draw(np.random.default_rng(7), (1500, count))])
    wrong = ((ends[:, 0] > 0) | (ends[:, 1] < 0)).mean()
    assert wrong <= most
    assert (ends[:, 0] < ends[:, 1]).all()


def test_the_interval_for_few_scenarios_becomes_the_normal_one_with_many():
    differences = np.random.default_rng(3).normal(0.0, 1.0, 400)
    half = 1.96 * differences.std(ddof=1) / 20
    low, high = mean_interval(differences)
    assert low == pytest.approx(differences.mean() - half, abs=0.01)
    assert high == pytest.approx(differences.mean() + half, abs=0.01)
    assert mean_interval(np.ones(6)) == (1.0, 1.0)
    assert mean_interval(np.arange(5.0)) == (None, None)


def test_one_far_scenario_among_level_ones_gives_no_verdict():
    low, high = mean_interval(np.array([61.0, 3.0, 5.0, 0.0, 0.0, 0.0, 0.0]))
    assert low < 0 < high


def test_runs_against_the_mean_are_counted():
    found = compare_paired(CHALLENGE, values(a=[1, 1, 1, 1, 1, 1, 0, -40]), values(a=[0, 0, 0, 0, 0, 0, 0, 0]))
    assert (found.agreeing, found.opposing, found.median, found.mean) == (1, 6, 1, pytest.approx(-4.25))
