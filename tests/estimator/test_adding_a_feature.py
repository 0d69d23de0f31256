"""A feature is added by the steps of `estimator/README.md` alone."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from library_copy import compile_in, copy_library, run

from weir import FEATURES, registry
from weir.errors import InputError
from weir.trainer.gym import specification
from weir.trainer.gym.scaling import SCALINGS
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.model.golden_inputs import golden_inputs

# The guide's steps in the library: in which file, after which line, what.
DUMMY = "dummy_s"
STEPS = (
    (
        "include/weir/interval_statistics.h",
        "  double audio_share = 0;               // audio packets, 0 to 1\n",
        f"  double {DUMMY} = 0;\n",
    ),
    (
        "src/interval_statistics_fields.h",
        '      {"audio_share", &S::audio_share, kShare, kUnscaled},\n',
        f'      {{"{DUMMY}", &S::{DUMMY}, kQueue, kDelay}},\n',
    ),
    (
        "src/arrival/interval_accumulator.cc",
        "  statistics.interval_s = std::max((now - interval_start_).seconds(), 0.0);\n",
        f"  statistics.{DUMMY} = 2 * statistics.interval_s;\n",
    ),
)
PROGRAM = f"""
#include <cstdio>
#include "arrival/interval_accumulator.h"
#include "policy/model_reader.h"
#include "policy/model_checks.h"

int main() {{
  const auto field = weir::FindIntervalStatisticsField("{DUMMY}");
  if (!field) return 1;
  weir::ModelDescription description;
  description.features.fields.push_back(*field);
  description.observation_size = 1;
  weir::IntervalAccumulator accumulator;
  accumulator.Start(weir::Timestamp::Millis(0));
  weir::FeatureHistory history(description.features);
  history.Add(accumulator.Take(weir::Timestamp::Millis(200), weir::DataRate::BitsPerSecond(1)));
  float observation = 0;
  history.Write(std::span(&observation, 1));
  const float highest = weir::internal::SaturatedObservations(description)[0][0];
  std::printf("%g %g %s", observation, highest, weir::IntervalStatisticsFieldNames().c_str());
}}
"""
SOURCES = (
    "arrival/interval_accumulator.cc",
    "policy/feature_history.cc",
    "policy/probe_observations.cc",
)


def compiled(folder: Path, steps, sources=SOURCES) -> subprocess.CompletedProcess:
    """The output of PROGRAM, built from a copy of the sources with some of the guide's steps done."""
    copy_library(folder)
    for file, after, line in steps:
        text = (folder / file).read_text()
        assert text.count(after) == 1, f"{file}: there is no one line {after!r}"
        (folder / file).write_text(text.replace(after, after + line))
    (folder / "main.cc").write_text(PROGRAM)
    built = compile_in(folder, "main.cc", *(f"src/{name}" for name in sources), "-o", "program")
    return built if built.returncode else run(folder, "./program")


def test_the_guides_steps_are_enough_in_the_library(tmp_path: Path) -> None:
    done = compiled(tmp_path, STEPS)
    assert done.returncode == 0, done.stderr
    value, highest, names = done.stdout.split(" ", 2)
    assert (float(value), float(highest)) == (pytest.approx(0.4), 60)
    assert sorted(names.split(", ")) == sorted([*FEATURES, DUMMY])


def test_a_field_without_its_line_in_the_table_does_not_compile(tmp_path: Path) -> None:
    done = compiled(tmp_path, STEPS[:1], SOURCES[:1])
    assert done.returncode != 0
    assert "needs its line in kIntervalStatisticsFields" in done.stderr


def test_the_trainer_needs_its_golden_value_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    dummy = SimpleNamespace(observation_space=(-1.0, 5.0), scale="delay", of_path=False)
    for module in (registry, specification):
        monkeypatch.setattr(module, "FEATURES", {**FEATURES, DUMMY: dummy})
    spec = EnvironmentSpecification(features=("loss_ratio", DUMMY), history=1)
    low, high = spec.observation_limits()
    assert (low[:2].tolist(), high[:2].tolist()) == ([0.0, -1.0], [1.0, 5.0])
    with pytest.raises(InputError, match=f"no value for {DUMMY}. Known are interval_s, "):
        golden_inputs(spec)


def test_every_feature_has_a_golden_value_and_a_known_scale() -> None:
    observations, _ = golden_inputs(EnvironmentSpecification(features=tuple(FEATURES), history=1))
    assert np.isfinite(observations).all()
    assert {feature.scale for feature in FEATURES.values()} == set(SCALINGS)


def test_facts_of_features_agree_with_their_names() -> None:
    units = {"_s": "s", "_bps": "bit/s", "_share": "", "_ratio": ""}
    for name, feature in FEATURES.items():
        ends = [unit for end, unit in units.items() if name.endswith(end)]
        assert not ends or feature.unit == ends[0], name
        assert (feature.scale == "rate_over_rule") == (feature.unit == "bit/s"), name
        assert feature.load_check[0] < feature.load_check[1], name
        assert feature.observation_space[0] <= feature.load_check[0], name
        assert feature.observation_space[1] >= feature.load_check[1], name
