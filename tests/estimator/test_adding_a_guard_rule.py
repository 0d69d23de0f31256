"""A rule of the guard is its own file and one row of the table."""

from pathlib import Path

from library_copy import compile_in, copy_library, run

TABLE = "src/guard/guard_rules.cc"
ROW = '  ROW("stale", MakeStaleRule, .has_switch = true, .in_training = true, .without_delays = true)'
NEW_ROW = ROW + ' \\\n  ROW("dummy", MakeDummyRule, .has_switch = true, .without_delays = true)'
NEW_FILE = """
#include "guard/guard_rule.h"
namespace weir {
namespace {
class DummyRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override { return Limited(rate, rate * 0.5, facts); }
};
}  // namespace
std::unique_ptr<GuardRule> MakeDummyRule() { return std::make_unique<DummyRule>(); }
}  // namespace weir
"""
PROGRAM = """
#include <cstdio>
#include "guard/guard.h"
int main() {
  using namespace weir;
  ArrivalHistory arrivals;
  GuardOptions off;
  if (!off.SwitchOff("dummy")) return 1;
  for (const GuardOptions& options : {GuardOptions(), off, GuardOptions::ForTraining()}) {
    Guard guard(arrivals, options);
    guard.SetConstraints({}, Timestamp::Seconds(1));
    const Guard::Result result = guard.Apply(DataRate::KilobitsPerSecond(300), Timestamp::Seconds(2));
    std::printf("%d %d %s\\n", static_cast<int>(result.rate.bps()), static_cast<int>(guard.counters().Of("dummy")),
                result.rule ? GuardRules()[*result.rule].reason.data() : "none");
  }
}
"""


def test_a_file_and_a_row_are_enough(tmp_path: Path) -> None:
    copy_library(tmp_path)
    table = tmp_path / TABLE
    assert table.read_text().count(ROW) == 1
    table.write_text(table.read_text().replace(ROW, NEW_ROW))
    (tmp_path / "src/guard/dummy_rule.cc").write_text(NEW_FILE)
    (tmp_path / "main.cc").write_text(PROGRAM)
    sources = [*(tmp_path / "src/guard").glob("*.cc")]
    sources += [
        tmp_path / "src/arrival" / name for name in ("arrival_history.cc", "queueing_delay.cc", "send_clock.cc")
    ]
    built = compile_in(tmp_path, "main.cc", *sources, "-o", "program")
    assert built.returncode == 0, built.stderr
    done = run(tmp_path, "./program")
    assert done.stdout.splitlines() == ["150000 1 guard_dummy", "300000 0 none", "300000 0 none"]
