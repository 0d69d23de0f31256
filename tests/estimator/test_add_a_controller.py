"""A controller of the library is its own two files, a row of `kControllers` and a row of the factories."""

import re
import subprocess
from pathlib import Path

import pytest
from library_copy import ROOT, compile_in, copy_library, run

LIBRARY = ROOT / "build" / "release" / "estimator" / "libweir.a"
SUITE = ROOT / "tests" / "estimator" / "controllers" / "receiver_controllers_test.cc"
HEADER = """
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_DUMMY_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_DUMMY_CONTROLLER_H_
#include "controllers/decision_timer.h"
#include "weir/network_controller.h"

namespace weir {

// Always 1.5 Mbps, within the constraints.
class DummyController final : public ReceiverController {
 public:
  std::string_view name() const override { return "dummy-2"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective&) override {}
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) override {}
  void OnArrival(const Arrival&) override {}
  void OnTargetApplied(const TargetTransferRate&) override {}
  ReceiverControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return timer_.due(); }

 private:
  TargetRateConstraints constraints_;
  DecisionTimer timer_;
};

}  // namespace weir
#endif
"""
SOURCE = """
#include "controllers/dummy_controller.h"

#include <algorithm>

namespace weir {

void DummyController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  constraints_ = constraints;
  if (!timer_.started()) timer_.Start(constraints.at_time, TimeDelta::Millis(100));
}

ReceiverControlUpdate DummyController::OnTimeout(Timestamp now) {
  ReceiverControlUpdate update;
  if (!timer_.Take(now)) return update;
  const DataRate wanted = DataRate::KilobitsPerSecond(1500);
  update.target_rate = std::clamp(wanted, constraints_.min_rate, constraints_.max_rate);
  return update;
}

}  // namespace weir
"""
REGISTERED = '    {.name = "dummy-2", .summary = "does next to nothing", .built_in = true},\n'
MADE = '    {"dummy-2", [](DataRate) -> Made { return std::make_unique<DummyController>(); }},\n'


def add_to_table(path: Path, table: str, line: str) -> None:
    """Adds a line at the end of an array."""
    text = path.read_text()
    rows = re.compile(rf"({table}\[\] = \{{\n.*?)(^\}};)", re.DOTALL | re.MULTILINE)
    changed = rows.sub(lambda found: found[1] + line + found[2], text, count=1)
    assert changed != text
    path.write_text(changed)


@pytest.fixture
def estimator(tmp_path: Path) -> Path:
    """The sources after the guide's first two steps."""
    copy = copy_library(tmp_path)
    (copy / "src/controllers/dummy_controller.h").write_text(HEADER)
    (copy / "src/controllers/dummy_controller.cc").write_text(SOURCE)
    add_to_table(copy / "src/registry.h", "kControllers", REGISTERED)
    return copy


def compile_source(estimator: Path, source: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    made = estimator / f"{source.stem}.o"
    return made, compile_in(estimator, f"-I{ROOT / 'tests' / 'estimator'}", "-c", source, "-o", made)


@pytest.mark.skipif(not LIBRARY.is_file(), reason="make build-test first")
def test_a_controller_added_by_the_guide_passes_the_suite_of_all(estimator: Path) -> None:
    factories = estimator / "src/controllers/controllers.cc"
    _, refused = compile_source(estimator, factories)
    assert refused.returncode != 0
    assert "each controller that is built_in needs its factory" in refused.stderr

    add_to_table(factories, "kFactories", MADE)
    factories.write_text('#include "controllers/dummy_controller.h"\n' + factories.read_text())
    sources = {path.relative_to(estimator) for path in estimator.rglob("*") if path.suffix in (".h", ".cc")}
    original = ROOT / "estimator"
    touched = [
        path
        for path in sources
        if not (original / path).is_file() or (original / path).read_bytes() != (estimator / path).read_bytes()
    ]
    assert len(touched) == 4, touched
    objects = []
    for source in (SUITE, factories, estimator / "src/controllers/dummy_controller.cc"):
        made, done = compile_source(estimator, source)
        assert done.returncode == 0, done.stderr
        objects.append(made)

    built = compile_in(estimator, *objects, LIBRARY, "-lgtest_main", "-lgtest", "-pthread", "-o", "suite")
    assert built.returncode == 0, built.stderr
    ran = run(estimator, "./suite", "--gtest_filter=*/Dummy2")
    assert ran.returncode == 0, ran.stdout
    passed = re.search(r"\[  PASSED  \] (\d+) tests", ran.stdout)
    assert passed
    assert int(passed[1]) == len(re.findall(r"^TEST_P\(", SUITE.read_text(), flags=re.M))
