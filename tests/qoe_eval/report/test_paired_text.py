from weir.qoe_eval.report.paired_text import paired_sentences, sample_text, too_few_text


def row(other, metric, mean, ci95, wins=21, independent=26, n=130):
    return {
        "a": "weir", "b": other, "metric": metric, "mean": mean, "ci95": ci95, "wins": wins,
        "independent": independent, "n": n,
    }  # fmt: skip


def test_a_paired_difference_in_words():
    summary = {
        "paired": [
            row("gcc", "challenge", 6.64, [4.5, 9.8], wins=24),
            row("gcc", "utility", 9.41, [6.1, 14.5]),
            row("gcc", "loss_ratio", -0.1, [-0.2, 0.0]),
            row("rule", "challenge", -0.5, [None, None], wins=1, independent=3, n=8),
            row("oracle", "loss_ratio", 0.1, [0.0, 0.2]),
        ]
    }
    found = paired_sentences(summary)
    assert list(found) == ["gcc", "rule"]
    assert str(found["gcc"]) == (
        "weir - gcc: utility +9.4 [+6.1, +14.5], challenge +6.6 [+4.5, +9.8]; "
        "more utility in 21 of 26 independent scenarios, 5 seeds each"
    )
    assert str(found["rule"]) == (
        "weir - rule: challenge -0.5 (too few scenarios for an interval (3)); "
        "more challenge in 1 of 3 independent scenarios, 8 runs"
    )
    assert paired_sentences({}) == {}


def test_words_for_the_sample():
    assert too_few_text(5) == "too few scenarios for an interval (5)"
    assert sample_text(26, 130) == "26 independent scenarios, 5 seeds each"
    assert sample_text(1, 5) == "1 independent scenario, 5 seeds"
    assert sample_text(3, 8) == "3 independent scenarios, 8 runs"
