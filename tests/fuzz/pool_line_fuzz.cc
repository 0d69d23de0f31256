#include <memory>
#include <string>
#include <string_view>

#include "fuzz_targets.h"
#include "weir/controllers.h"
#include "weir/pool_controller.h"

namespace weir::fuzz {

void FuzzPoolLine(std::span<const uint8_t> bytes) {
  const std::string_view line(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto pool = ParsePool(line);
  if (!pool) {
    WEIR_FUZZ_CHECK(!pool.error().empty() && pool.error().size() < 256);
    for (const char c : pool.error()) WEIR_FUZZ_CHECK(c >= ' ' && c <= '~');
    return;
  }
  WEIR_FUZZ_CHECK(bytes.size() <= kMaxPoolLineBytes && IsPoolLine(line));
  WEIR_FUZZ_CHECK(!pool.value().pilot.empty() && pool.value().copilots.size() <= kMaxCopilots);
  const std::string shortest = ToString(pool.value());
  WEIR_FUZZ_CHECK(shortest.size() <= kMaxPoolLineBytes);
  const auto again = ParsePool(shortest);
  WEIR_FUZZ_CHECK(again && again.value() == pool.value() && ToString(again.value()) == shortest);

  auto made = PoolController::Create(pool.value(), [](const std::string& name) {
    auto controller = MakeBuiltInController(name, DataRate::KilobitsPerSecond(500));
    return controller ? Result<std::unique_ptr<ReceiverController>>(std::move(controller)) : Error{"none"};
  });
  if (!made) return;
  WEIR_FUZZ_CHECK(made.value()->members().size() == 1 + pool.value().copilots.size());
  WEIR_FUZZ_CHECK(made.value()->specification() == pool.value());
}

}  // namespace weir::fuzz
