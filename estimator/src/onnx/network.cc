#include "onnx/network.h"

#include <algorithm>
#include <array>
#include <utility>

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
WEIR_INLINE void ForEachLanes(const NetworkStep& step, const Arrays& arrays, Function function) {
  const float* const a = arrays.of(step.a);
  const float* const b = arrays.of(step.b);
  float* const out = arrays.workspace + step.out.offset;
  for (size_t i = 0; i < step.out.size; i += kLanes) Store(function(Load(a + i), Load(b + i)), out + i);
}

template <class Function>
WEIR_INLINE void ForElements(const NetworkStep& step, const Arrays& arrays, Function function) {
  const float* const a = arrays.of(step.a);
  float* const out = arrays.workspace + step.out.offset;
  if (step.elements.empty()) {
    for (size_t i = 0; i < step.out.size; i += kLanes) Store(function(Load(a + i)), out + i);
    return;
  }
  for (size_t i = 0; i < step.elements.size(); i += kLanes) {
    const uint32_t* const at = step.elements.data() + i;
    // Not through an array, whose elements would have to reach memory before they are read as a vector.
    const Lanes values =
        function(Lanes{a[at[0]], a[at[1]], a[at[2]], a[at[3]], a[at[4]], a[at[5]], a[at[6]], a[at[7]]});
    for (size_t j = 0; j < kLanes; ++j) out[at[j]] = values[j];
  }
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
  for (const uint32_t element : step.elements) {
    for (size_t j = 0; j < kSums; ++j) {
      const Vector weight = Load<Vector>(weights + j * kWidth);
      for (size_t row = 0; row < kRows; ++row) sums[row][j] += a[row][element] * weight;
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
  const float* weights = constants + step.weights;
  const size_t size = PaddedSize(step.out.size);
  for (size_t i = 0, block = 0; i < size; i += block) {
    block = DenseBlockSize(size - i);
    if (block == 8 * kLanes) {
      DenseBlocks<Vector, 8 * kLanes, kRows>(step, weights, i, constants, workspaces);
    } else if (block == 4 * kLanes) {
      DenseBlocks<Vector, 4 * kLanes, kRows>(step, weights, i, constants, workspaces);
    } else {
      DenseBlocks<Lanes, kLanes, kRows>(step, weights, i, constants, workspaces);
    }
    weights += step.elements.size() * block;
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
      return ForEachLanes(step, arrays, [](const Lanes& a, const Lanes& b) WEIR_INLINE_LAMBDA { return a + b; });
    case Kind::kMultiply:
      return ForEachLanes(step, arrays, [](const Lanes& a, const Lanes& b) WEIR_INLINE_LAMBDA { return a * b; });
    case Kind::kLarger:
      return ForEachLanes(step, arrays, [](const Lanes& a, const Lanes& b) WEIR_INLINE_LAMBDA { return Larger(a, b); });
    case Kind::kClip:
      return ForEachLanes(step, arrays, [&step](const Lanes& a, const Lanes&) WEIR_INLINE_LAMBDA {
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
    case Kind::kSigmoid:
      return ForElements(step, arrays, [](const Lanes& a) WEIR_INLINE_LAMBDA { return Sigmoid(a); });
    case Kind::kDense:
      return;  // see RunAll()
    case Kind::kTree:
      arrays.workspace[step.out.offset] = arrays.constants[step.weights + FindLevel(step.splits, arrays.of(step.a))];
      return;
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

}  // namespace

// The state of one user of a network: the workspace.
class Network::Session final : public ModelSession {
 public:
  explicit Session(const Network& network) : network_(network), workspace_(network.plan_.workspace_size) {}

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
  const Network& network_;
  AlignedFloats workspace_;
};

Network::Network(NetworkPlan plan) : plan_(std::move(plan)), constants_(plan_.constants.size()) {
  std::ranges::copy(plan_.constants, constants_.data());
  std::vector<float>().swap(plan_.constants);
}

Result<std::unique_ptr<ModelSession>> Network::MakeSession() const {
  return std::unique_ptr<ModelSession>(std::make_unique<Session>(*this));
}

bool Network::RunTogether(std::span<ModelSession* const> sessions) const {
  std::array<float*, kMaxTogether> workspaces{};
  std::ranges::transform(sessions, workspaces.begin(),
                         [](ModelSession* session) { return static_cast<Session*>(session)->workspace(); });
  RunSteps(plan_.steps, constants_.data(), std::span(workspaces).first(sessions.size()));
  return true;
}

}  // namespace weir::internal
