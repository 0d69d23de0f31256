#include "weir/policy/policy.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "golden_vectors.h"
#include "model_reader.h"
#include "onnx_inspection.h"
#include "onnx_session.h"
#include "probe_observations.h"

namespace weir {
namespace {

using internal::GoldenVector;
using internal::ModelContract;
using internal::ModelLayout;
using internal::OnnxSession;

bool AllFinite(std::span<const float> values) {
  // Sums of finite values overflow to infinity only where a value is absurd anyway; x - x is 0 for finite x and NaN
  // otherwise.
  float sum = 0;
  for (const float value : values) sum += value - value;  // NOLINT(misc-redundant-expression)
  return sum == 0;
}

// The corners that real objectives come near to, and a middle.
constexpr Objective kProbedObjectives[] = {
    kBalanced, {0.98f, 0.01f, 0.01f}, {0.01f, 0.98f, 0.01f}, {0.01f, 0.01f, 0.98f}};

// The shortest of so many runs counts, since the machine may have had other work meanwhile.
constexpr int kTimedRuns = 5;
constexpr int kRandomObservations = 32;

// Parts of the file may stand in `why`.
Error NotLoaded(std::string why) {
  std::ranges::replace_if(why, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return Error{"the model cannot be used: " + why};
}

}  // namespace

struct Policy::Implementation {
  std::unique_ptr<OnnxSession> session;
  ModelContract contract;
  TimeDelta time_limit = kMaxDecisionTime;
  std::string last_error;

  const ModelDescription& description() const { return contract.description; }
  PolicyFault Run(std::span<const float> observation, const Objective& objective, std::span<float> action);
  void ResetState();
  PolicyFault Fault(PolicyFault fault);

  std::optional<Error> CheckTime();
  std::optional<Error> CheckTime(const std::vector<float>& observation);
  std::optional<Error> CheckFinite();
  std::optional<Error> CheckGolden();
  std::optional<Error> CheckGolden(const GoldenVector& vector, const std::string& which);
};

void Policy::Implementation::ResetState() {
  for (const ModelLayout::State& state : contract.layout.states) std::ranges::fill(session->input(state.input), 0.0f);
}

PolicyFault Policy::Implementation::Fault(PolicyFault fault) {
  ResetState();
  return fault;
}

PolicyFault Policy::Implementation::Run(std::span<const float> observation, const Objective& objective,
                                        std::span<float> action) {
  assert(observation.size() == description().observation_size && action.size() == description().action_size);
  const ModelLayout& layout = contract.layout;
  if (!AllFinite(observation)) return Fault(PolicyFault::kBadObservation);
  std::ranges::copy(observation, session->input(layout.observation).begin());
  if (layout.objective != ModelLayout::kNone) {
    const std::span<float> weights = session->input(layout.objective);
    weights[0] = objective.throughput;
    weights[1] = objective.latency;
    weights[2] = objective.loss;
  }
  if (auto error = session->Run()) {
    last_error = std::move(error->message);
    return Fault(PolicyFault::kRuntimeError);
  }
  if (!AllFinite(session->output(layout.action))) return Fault(PolicyFault::kNonFiniteOutput);
  for (const ModelLayout::State& state : layout.states) {
    if (!AllFinite(session->output(state.output))) return Fault(PolicyFault::kNonFiniteOutput);
  }
  for (const ModelLayout::State& state : layout.states) {
    std::ranges::copy(session->output(state.output), session->input(state.input).begin());
  }
  std::ranges::copy(session->output(layout.action), action.begin());
  return PolicyFault::kNone;
}

std::optional<Error> Policy::Implementation::CheckTime(const std::vector<float>& observation) {
  std::vector<float> action(description().action_size);
  TimeDelta best = TimeDelta::PlusInfinity();
  for (int i = 0; i < kTimedRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    // That it stays finite is asked where it must.
    if (Run(observation, kBalanced, action) == PolicyFault::kRuntimeError) return Error{last_error};
    const auto taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, TimeDelta::Micros(std::chrono::ceil<std::chrono::microseconds>(taken).count()));
    if (best <= time_limit) return std::nullopt;
  }
  return Error{"a decision takes " + std::to_string(best.us()) + " us on this machine, at most " +
               std::to_string(time_limit.us()) + " us are allowed; export a smaller model"};
}

std::optional<Error> Policy::Implementation::CheckTime() {
  for (const auto& observations : {internal::SaturatedObservations(description()),
                                   internal::RandomObservations(description(), kRandomObservations)}) {
    for (const std::vector<float>& observation : observations) {
      if (auto error = CheckTime(observation)) return error;
    }
  }
  return std::nullopt;
}

std::optional<Error> Policy::Implementation::CheckFinite() {
  std::vector<float> action(description().action_size);
  const auto check = [&](const std::vector<float>& observation, const std::string& where) -> std::optional<Error> {
    for (const Objective& objective : kProbedObjectives) {
      switch (Run(observation, objective, action)) {
        case PolicyFault::kNone:
          continue;
        case PolicyFault::kRuntimeError:
          return Error{last_error};
        default:
          return Error{"its output is not finite for " + where};
      }
    }
    return std::nullopt;
  };
  if (auto error = check(std::vector<float>(description().observation_size, 0.0f), "an observation of zeros"))
    return error;
  for (const std::vector<float>& observation : internal::SaturatedObservations(description())) {
    if (auto error = check(observation, "an observation with saturated features")) return error;
  }
  ResetState();
  return std::nullopt;
}

std::optional<Error> Policy::Implementation::CheckGolden(const GoldenVector& vector, const std::string& which) {
  const bool fits = vector.observation.size() == description().observation_size &&
                    vector.action.size() == description().action_size &&
                    (vector.state.empty() || vector.state.size() == description().state_size) &&
                    (vector.next_state.empty() || vector.next_state.size() == description().state_size) &&
                    (vector.objective.empty() ? !description().takes_objective : vector.objective.size() == 3);
  if (!fits) return Error{which + " does not have the sizes of the model's inputs and outputs"};
  Objective objective;
  if (!vector.objective.empty()) objective = {vector.objective[0], vector.objective[1], vector.objective[2]};
  ResetState();
  if (!vector.state.empty())
    std::ranges::copy(vector.state, session->input(contract.layout.states.front().input).begin());
  std::vector<float> action(description().action_size);
  if (Run(vector.observation, objective, action) != PolicyFault::kNone) return Error{which + " could not be computed"};
  const auto compare = [&](std::span<const float> computed,
                           const std::vector<float>& expected) -> std::optional<Error> {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (internal::MatchesGolden(computed[i], expected[i])) continue;
      return Error{which + " gives " + std::to_string(computed[i]) + " here, but gave " + std::to_string(expected[i]) +
                   " where it was exported; the file was altered, or this ONNX Runtime (" + OnnxRuntimeVersion() +
                   ") computes it differently"};
    }
    return std::nullopt;
  };
  if (auto error = compare(action, vector.action)) return error;
  if (vector.next_state.empty()) return std::nullopt;
  return compare(session->input(contract.layout.states.front().input), vector.next_state);
}

std::optional<Error> Policy::Implementation::CheckGolden() {
  if (description().format != ModelFormat::kWeir1) return std::nullopt;
  const auto vectors = internal::ParseGoldenVectors(contract.golden);
  if (!vectors) return Error{"its metadata 'weir.golden' is not a list of golden vectors: " + vectors.error()};
  for (size_t i = 0; i < vectors.value().size(); ++i) {
    if (auto error = CheckGolden(vectors.value()[i], "golden vector " + std::to_string(i))) return error;
    if (auto error = CheckTime(vectors.value()[i].observation)) return error;
  }
  ResetState();
  return std::nullopt;
}

Policy::Policy(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Policy::~Policy() = default;

Result<std::unique_ptr<Policy>> Policy::Load(std::span<const std::byte> model, TimeDelta time_limit) {
  if (model.size() > kMaxModelSize) {
    return NotLoaded("it has " + std::to_string(model.size()) + " bytes, at most " + std::to_string(kMaxModelSize) +
                     " are allowed");
  }
  if (const auto objection = internal::FindOnnxObjection(model)) return NotLoaded(*objection);
  auto session = OnnxSession::Load(model);
  if (!session) return NotLoaded(session.error());
  auto contract = internal::ReadModelContract(*session.value());
  if (!contract) return NotLoaded(contract.error());
  auto implementation = std::make_unique<Implementation>();
  implementation->time_limit = time_limit;
  implementation->session = std::move(session.value());
  implementation->contract = std::move(contract.value());
  if (const auto error = implementation->session->AllocateTensors()) return NotLoaded(error->message);
  if (const auto error = implementation->CheckTime()) return NotLoaded(error->message);
  if (const auto error = implementation->CheckFinite()) return NotLoaded(error->message);
  if (const auto error = implementation->CheckGolden()) return NotLoaded(error->message);
  return std::unique_ptr<Policy>(new Policy(std::move(implementation)));
}

const ModelDescription& Policy::description() const { return implementation_->description(); }

PolicyFault Policy::Run(std::span<const float> observation, const Objective& objective, std::span<float> action) {
  return implementation_->Run(observation, objective, action);
}

void Policy::ResetState() { implementation_->ResetState(); }

const char* OnnxRuntimeVersion() { return internal::OnnxRuntimeVersion(); }

}  // namespace weir
