#include "onnx/dense_network.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "onnx/model_session.h"
#include "onnx/vector_math.h"

namespace weir::internal {
namespace {

static_assert(kPadding == kLanes && kLanes == 8);

using Kind = NetworkStep::Kind;

// Locates the operands of one run.
struct Arrays {
  const float* constants;
  float* workspace;

  WEIR_INLINE const float* of(const Operand& operand) const {
    return (operand.is_constant ? constants : workspace) + operand.offset;
  }
};

template <class Function>
WEIR_INLINE void ForPairs(const NetworkStep& step, const Arrays& arrays, Function function) {
  const float* const a = arrays.of(step.a);
  const float* const b = arrays.of(step.b);
  float* const out = arrays.workspace + step.out.offset;
  for (size_t i = 0; i < step.out.size; i += kLanes) Store(function(Load(a + i), Load(b + i)), out + i);
}

template <class Function>
WEIR_INLINE void ForElements(const NetworkStep& step, const Arrays& arrays, Function function) {
  const float* const a = arrays.of(step.a);
  float* const out = arrays.workspace + step.out.offset;
  for (size_t i = 0; i < step.out.size; i += kLanes) Store(function(Load(a + i)), out + i);
}

// Computes kBlock outputs from `first` on, in each of kRows workspaces. The sums stay in registers.
template <class Vector, size_t kBlock, size_t kRows>
WEIR_INLINE void DenseBlock(const NetworkStep& step, const float* weights, size_t first, const float* constants,
                            float* const* workspaces) {
  constexpr size_t kWidth = sizeof(Vector) / sizeof(float), kSums = kBlock / kWidth;
  const float* a[kRows];
  Vector sums[kRows][kSums];
  for (size_t row = 0; row < kRows; ++row) {
    const Arrays arrays{constants, workspaces[row]};
    a[row] = arrays.of(step.a);
    for (size_t j = 0; j < kSums; ++j) sums[row][j] = Load<Vector>(arrays.of(step.b) + first + j * kWidth);
  }
  // The weights do not fit into the L1 cache, so those ahead are prefetched, one cache line at a time.
  constexpr size_t kAhead = 8 * kBlock, kLine = 16;
  for (size_t i = 0; i < step.a.size; ++i) {
    for (size_t j = 0; j < kSums; ++j) {
      const Vector weight = Load<Vector>(weights + j * kWidth);
      for (size_t row = 0; row < kRows; ++row) sums[row][j] += a[row][i] * weight;
    }
    for (size_t j = kLine; j <= kBlock; j += kLine) __builtin_prefetch(weights + kAhead + j);
    weights += kBlock;
  }
  for (size_t row = 0; row < kRows; ++row) {
    float* const out = workspaces[row] + step.out.offset + first;
    for (size_t j = 0; j < kSums; ++j) Store(sums[row][j], out + j * kWidth);
  }
}

// Computes a block in all workspaces, kRows at a time.
template <class Vector, size_t kBlock, size_t kRows>
WEIR_INLINE void DenseBlocks(const NetworkStep& step, const float* weights, size_t first, const float* constants,
                             std::span<float* const> workspaces) {
  for (; workspaces.size() >= kRows; workspaces = workspaces.subspan(kRows))
    DenseBlock<Vector, kBlock, kRows>(step, weights, first, constants, workspaces.data());
  for (float* const& workspace : workspaces) DenseBlock<Vector, kBlock, 1>(step, weights, first, constants, &workspace);
}

// Computes a dense layer block by block, so that the weights of a block stay in a cache.
template <class Vector, size_t kRows>
WEIR_INLINE void Dense(const NetworkStep& step, const float* constants, std::span<float* const> workspaces) {
  const float* weights = constants + step.weights.offset;
  const size_t size = PaddedSize(step.out.size);
  for (size_t first = 0, block = 0; first < size; first += block) {
    block = DenseBlockSize(size - first);
    if (block == kLanes) {
      DenseBlocks<Lanes, kLanes, kRows>(step, weights, first, constants, workspaces);
    } else {
      DenseBlocks<Vector, 8 * kLanes, kRows>(step, weights, first, constants, workspaces);
    }
    weights += step.a.size * block;
  }
}

template <class Function>
WEIR_INLINE void ForRows(const NetworkStep& step, const Arrays& arrays, Function function) {
  const float* row = arrays.of(step.a);
  float* const out = arrays.workspace + step.out.offset;
  for (size_t i = 0; i < step.out.size; ++i, row += step.row_size) {
    out[i] = row[0];
    for (size_t j = 1; j < step.row_size; ++j) out[i] = function(out[i], row[j]);
  }
}

WEIR_INLINE void RunStep(const NetworkStep& step, const Arrays& arrays) {
  switch (step.kind) {
    case Kind::kAdd:
      return ForPairs(step, arrays, [](const Lanes& a, const Lanes& b) WEIR_INLINE_LAMBDA { return a + b; });
    case Kind::kMultiply:
      return ForPairs(step, arrays, [](const Lanes& a, const Lanes& b) WEIR_INLINE_LAMBDA { return a * b; });
    case Kind::kLarger:
      return ForPairs(step, arrays, [](const Lanes& a, const Lanes& b) WEIR_INLINE_LAMBDA { return Larger(a, b); });
    case Kind::kClip:
      return ForElements(step, arrays, [&step](const Lanes& a) WEIR_INLINE_LAMBDA {
        return Smaller(Larger(a, AllLanes(step.low)), AllLanes(step.high));
      });
    case Kind::kCopy:
      std::copy_n(arrays.of(step.a), step.a.size, arrays.workspace + step.out.offset);
      return;
    case Kind::kExp:
      return ForElements(step, arrays, [](const Lanes& a) WEIR_INLINE_LAMBDA { return Exp(a); });
    case Kind::kLog:
      return ForElements(step, arrays, [](const Lanes& a) WEIR_INLINE_LAMBDA { return Log(a); });
    case Kind::kTanh:
      return ForElements(step, arrays, [](const Lanes& a) WEIR_INLINE_LAMBDA { return Tanh(a); });
    case Kind::kDense:
      return;  // see RunAll()
    case Kind::kSmallestOfRow:
      return ForRows(step, arrays, [](float a, float b) { return a < b || a != a ? a : b; });
    case Kind::kLargestOfRow:
      return ForRows(step, arrays, [](float a, float b) { return a > b || a != a ? a : b; });
  }
}

// Dense layers use vectors of type `Vector` and compute kRows workspaces at a time, whose sums fit into registers.
template <class Vector, size_t kRows>
WEIR_INLINE void RunAll(std::span<const NetworkStep> steps, const float* constants,
                        std::span<float* const> workspaces) {
  for (const NetworkStep& step : steps) {
    if (step.kind == Kind::kDense) {
      Dense<Vector, kRows>(step, constants, workspaces);
    } else {
      for (float* const workspace : workspaces) RunStep(step, {constants, workspace});
    }
  }
}

#if defined(__x86_64__)
// The same code, with bit-identical results, for processors with larger vectors.
[[gnu::target("avx2")]] void RunWithAvx2(std::span<const NetworkStep> steps, const float* constants,
                                         std::span<float* const> workspaces) {
  RunAll<Lanes, 1>(steps, constants, workspaces);
}
[[gnu::target("avx512f")]] void RunWithAvx512(std::span<const NetworkStep> steps, const float* constants,
                                              std::span<float* const> workspaces) {
  RunAll<WideLanes, 4>(steps, constants, workspaces);
}
#endif

// Runs the steps in order in each of the workspaces. Allocates nothing.
void RunSteps(std::span<const NetworkStep> steps, const float* constants, std::span<float* const> workspaces) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0;
  // A single workspace has too few sums to hide the latency of an addition.
  if (has_avx512 && workspaces.size() > 1) return RunWithAvx512(steps, constants, workspaces);
  if (has_avx2) return RunWithAvx2(steps, constants, workspaces);
#endif
  RunAll<Lanes, 1>(steps, constants, workspaces);
}

// An array of float32 that is aligned to a cache line.
class AlignedFloats {
 public:
  explicit AlignedFloats(size_t size) : lines_((size + kPerLine - 1) / kPerLine) {}

  float* data() { return reinterpret_cast<float*>(lines_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(lines_.data()); }

 private:
  static constexpr size_t kPerLine = 16;
  struct alignas(kPerLine * sizeof(float)) Line {
    float values[kPerLine] = {};
  };

  std::vector<Line> lines_;
};

class DenseNetwork final : public ModelEvaluator {
 public:
  explicit DenseNetwork(NetworkPlan plan) : plan_(std::move(plan)), constants_(plan_.constants.size()) {
    std::ranges::copy(plan_.constants, constants_.data());
    std::vector<float>().swap(plan_.constants);
  }

  Result<std::unique_ptr<ModelSession>> MakeSession() const override {
    return std::unique_ptr<ModelSession>(std::make_unique<Session>(*this));
  }
  bool RunTogether(std::span<ModelSession* const> sessions) const override {
    std::array<float*, kMaxTogether> workspaces{};
    std::ranges::transform(sessions, workspaces.begin(),
                           [](ModelSession* session) { return static_cast<Session*>(session)->workspace(); });
    RunSteps(plan_.steps, constants_.data(), std::span(workspaces).first(sessions.size()));
    return true;
  }

 private:
  class Session final : public ModelSession {
   public:
    explicit Session(const DenseNetwork& network) : network_(network), workspace_(network.plan_.workspace_size) {}

    std::span<float> input(size_t index) override {
      const Operand& operand = network_.plan_.inputs[index];
      return {workspace_.data() + operand.offset, operand.size};
    }
    std::span<const float> output(size_t index) const override {
      const Operand& operand = network_.plan_.outputs[index];
      return {workspace_.data() + operand.offset, operand.size};
    }
    std::optional<Error> Run() override {
      float* const workspace = workspace_.data();
      RunSteps(network_.plan_.steps, network_.constants_.data(), {&workspace, 1});
      return std::nullopt;
    }
    float* workspace() { return workspace_.data(); }

   private:
    const DenseNetwork& network_;
    AlignedFloats workspace_;
  };

  NetworkPlan plan_;
  AlignedFloats constants_;
};

}  // namespace

Result<std::unique_ptr<ModelEvaluator>> MakeDenseNetwork(const OnnxModel& model) {
  Result<NetworkPlan> plan = PlanNetwork(model);
  if (!plan) return Error{plan.error()};
  return std::unique_ptr<ModelEvaluator>(std::make_unique<DenseNetwork>(std::move(plan.value())));
}

}  // namespace weir::internal
