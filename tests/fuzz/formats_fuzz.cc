// Formats that are read whole: REMB, a pool specification, a model file.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_targets.h"
#include "policy/policy.h"
#include "weir/controllers.h"
#include "weir/pool_controller.h"
#include "weir/remb_sender.h"

namespace weir::fuzz {

void FuzzRemb(std::span<const uint8_t> bytes) {
  const auto remb = ParseRemb(bytes);
  if (!remb) return;
  WEIR_FUZZ_CHECK(remb->rate >= DataRate::Zero() && remb->rate.IsFinite());
  WEIR_FUZZ_CHECK(remb->ssrc_count <= kMaxRembSsrcs);
  WEIR_FUZZ_CHECK(bytes.size() >= RembSize(remb->ssrc_count));
  std::array<uint8_t, RembSize(kMaxRembSsrcs)> buffer{};
  const auto ssrcs = std::span(remb->ssrcs).first(remb->ssrc_count);
  const size_t size = WriteRemb(*remb, buffer);
  if (remb->rate.IsZero()) {
    WEIR_FUZZ_CHECK(size == 0);
    return;
  }
  WEIR_FUZZ_CHECK(size == RembSize(remb->ssrc_count));
  const auto again = ParseRemb(std::span<const uint8_t>(buffer).first(size));
  WEIR_FUZZ_CHECK(again && again->rate == remb->rate && again->sender_ssrc == remb->sender_ssrc);
  WEIR_FUZZ_CHECK(std::ranges::equal(std::span(again->ssrcs).first(again->ssrc_count), ssrcs));
}

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

void FuzzModel(std::span<const uint8_t> bytes) {
  const auto policy = Policy::Load(std::as_bytes(bytes));
  if (!policy) {
    WEIR_FUZZ_CHECK(policy.error().size() > 20);
    return;
  }
  const ModelDescription& description = policy.value()->description();
  const std::vector<float> observation(description.observation_size, 1.0f);
  std::vector<float> action(description.action_size, 0.0f);
  for (int i = 0; i < 3; ++i) {
    if (policy.value()->Run(observation, kBalanced, action) != PolicyFault::kNone) continue;
    for (const float value : action) WEIR_FUZZ_CHECK(std::isfinite(value));
  }
}

}  // namespace weir::fuzz
