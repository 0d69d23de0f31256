#include <algorithm>
#include <array>

#include "fuzz_targets.h"
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

}  // namespace weir::fuzz
