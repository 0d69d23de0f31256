// Owning handles of the C interface, and functions that make them.
#ifndef WEIR_TESTS_ESTIMATOR_C_HANDLES_H_
#define WEIR_TESTS_ESTIMATOR_C_HANDLES_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "weir.h"
#include "weir_mocc.h"

namespace weir {

struct HandleDestroyer {
  void operator()(weir_model* model) const { weir_model_destroy(model); }
  void operator()(weir_controller* controller) const { weir_controller_destroy(controller); }
  void operator()(weir_estimator* estimator) const { weir_estimator_destroy(estimator); }
  void operator()(weir_send_side* send_side) const { weir_send_side_destroy(send_side); }
  void operator()(weir_layer_allocator* allocator) const { weir_layer_allocator_destroy(allocator); }
  void operator()(weir_repair* repair) const { weir_repair_destroy(repair); }
  void operator()(weir_mocc* mocc) const { weir_mocc_destroy(mocc); }
};
template <class Handle>
using Owned = std::unique_ptr<Handle, HandleDestroyer>;

// The handle that `create`, a function of the C interface, makes from `arguments`.
template <class Handle, class Create, class... Arguments>
Owned<Handle> Created(Create create, Arguments... arguments) {
  Handle* handle = nullptr;
  EXPECT_EQ(create(arguments..., &handle), WEIR_OK) << weir_last_error();
  return Owned<Handle>(handle);
}

// The error of such a function, which must set the handle to null.
template <class Handle, class Create, class... Arguments>
int CreationError(Create create, Arguments... arguments) {
  Handle* handle = reinterpret_cast<Handle*>(1);
  const int error = create(arguments..., &handle);
  EXPECT_EQ(handle, nullptr);
  return error;
}

inline Owned<weir_model> LoadedModel(const std::vector<std::byte>& onnx) {
  return Created<weir_model>(weir_model_load, onnx.data(), onnx.size());
}

inline Owned<weir_controller> PolicyController(const std::vector<std::byte>& onnx, int worker = 0) {
  return Created<weir_controller>(weir_controller_create_policy, LoadedModel(onnx).get(), worker);
}

inline Owned<weir_controller> BuiltInController(const char* name) {
  return Created<weir_controller>(weir_controller_create_built_in, name);
}

inline Owned<weir_controller> PooledController(const char* specification) {
  return Created<weir_controller>(weir_controller_create_pool, specification, nullptr, size_t{0}, nullptr, nullptr);
}

inline Owned<weir_estimator> EstimatorWith(const Owned<weir_controller>& controller,
                                           const weir_estimator_config& config = weir_estimator_default_config()) {
  return Created<weir_estimator>(weir_estimator_create, controller.get(), &config);
}

inline weir_estimator_counters CountersOf(const weir_estimator* estimator) {
  weir_estimator_counters counters{};
  EXPECT_EQ(weir_estimator_get_counters(estimator, &counters, sizeof counters), WEIR_OK);
  return counters;
}

// A packet of 1250 bytes that arrives when it is sent.
inline weir_packet CPacket(int64_t time_us, uint16_t sequence_number) {
  weir_packet packet{};
  packet.arrival_time_us = time_us;
  packet.ssrc = 0x1234;
  packet.sequence_number = sequence_number;
  packet.has_abs_send_time = 1;
  packet.abs_send_time = static_cast<uint32_t>(time_us * 262144 / 1'000'000) & 0xffffff;
  packet.payload_bytes = 1250;
  return packet;
}

// The answers of an estimator during a stream.
struct Said {
  int rembs_due = 0;
  std::vector<int64_t> changed_bps;
  weir_estimate last{};
};

// Sends an evenly spaced stream at `rate_bps`.
inline Said Stream(weir_estimator* estimator, int64_t from_us, int64_t to_us, int64_t rate_bps) {
  Said said;
  const int64_t interval_us = 1250 * 8 * 1'000'000ll / rate_bps;
  auto sequence_number = static_cast<uint16_t>(from_us * rate_bps / (1250 * 8 * 1'000'000ll));
  for (int64_t now_us = from_us; now_us < to_us; now_us += interval_us) {
    const weir_packet packet = CPacket(now_us, sequence_number++);
    EXPECT_EQ(weir_estimator_on_packet(estimator, &packet), WEIR_OK);
    while (weir_estimator_next_timeout_us(estimator) <= now_us) {
      const int result = weir_estimator_on_timeout(estimator, now_us, &said.last);
      EXPECT_GE(result, 0);
      said.rembs_due += (result & WEIR_REMB_DUE) != 0;
      if (result & WEIR_ESTIMATE_CHANGED) said.changed_bps.push_back(said.last.target_rate_bps);
    }
  }
  EXPECT_EQ(weir_estimator_get_estimate(estimator, &said.last), WEIR_OK);
  return said;
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_C_HANDLES_H_
