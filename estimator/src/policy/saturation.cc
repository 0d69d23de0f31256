#include "saturation.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "weir/arrival/interval_statistics.h"
#include "weir/policy/mmsys_features.h"

namespace weir::internal {
namespace {

struct Range {
  float low = 0;
  float high = 0;
};

constexpr float kRateBps = 1e10f;
constexpr float kPackets = 1e6f;
constexpr float kBytes = 1e9f;
constexpr float kDelayS = 60.0f;
constexpr float kSilenceS = 10'800.0f;  // three hours

struct NamedRange {
  std::string_view name;
  Range range;
};

// The fields that are not shares or ratios within [0, 1].
constexpr std::array kFieldRanges{
    NamedRange{"interval_s", {0.01f, 10.0f}},
    NamedRange{"receive_rate_bps", {0, kRateBps}},
    NamedRange{"packets_received", {0, kPackets}},
    NamedRange{"bytes_received", {0, kBytes}},
    NamedRange{"packets_lost", {0, kPackets}},
    NamedRange{"queueing_delay_mean_s", {0, kDelayS}},
    NamedRange{"queueing_delay_min_s", {0, kDelayS}},
    NamedRange{"queueing_delay_max_s", {0, kDelayS}},
    NamedRange{"queueing_delay_p95_s", {0, kDelayS}},
    NamedRange{"delay_gradient", {-100.0f, 100.0f}},
    NamedRange{"base_round_trip_time_s", {0, kDelayS}},
    NamedRange{"delay_ratio", {1.0f, 1e4f}},
    NamedRange{"interarrival_time_mean_s", {0, kSilenceS}},
    NamedRange{"jitter_s", {0, kDelayS}},
    NamedRange{"time_since_last_packet_s", {0, kSilenceS}},
    NamedRange{"sending_ratio", {0, 100.0f}},
    NamedRange{"last_estimate_bps", {0, kRateBps}},
};

// In the order of mmsys_features.h.
constexpr std::array<Range, MmsysFeatures::kFeatures> kMmsysRanges{{
    {0, kRateBps},
    {0, kPackets},
    {0, kBytes},
    {0, 1e3f * kDelayS},
    {-200.0f, 1e3f * kDelayS},
    {0, 1e3f * kDelayS},
    {0, 1e4f},
    {0, 1e3f * kDelayS},
    {0, 1e3f * kSilenceS},
    {0, 1e3f * kSilenceS},
    {0, 1.0f},
    {0, kPackets},
    {0, 1.0f},
    {0, 1.0f},
    {0, 1.0f},
}};

Range FieldRange(std::string_view name) {
  for (const NamedRange& field : kFieldRanges) {
    if (field.name == name) return field.range;
  }
  return {0, 1.0f};
}

}  // namespace

std::vector<std::vector<float>> SaturatedObservations(const ModelDescription& description) {
  // Feature and range of every element.
  std::vector<size_t> feature(description.observation_size);
  std::vector<Range> range(description.observation_size);
  size_t features = MmsysFeatures::kFeatures;
  if (description.format == ModelFormat::kWeir1) features = description.features.fields.size();
  for (size_t i = 0; i < feature.size(); ++i) {
    if (description.format == ModelFormat::kWeir1) {
      feature[i] = i % features;
      range[i] = FieldRange(description.features.fields[feature[i]].name);
    } else {
      feature[i] = i / (feature.size() / features);
      range[i] = kMmsysRanges[feature[i]];
    }
  }
  std::vector<std::vector<float>> observations(features + 2, std::vector<float>(feature.size(), 0.0f));
  for (size_t i = 0; i < feature.size(); ++i) {
    observations[0][i] = range[i].high;
    observations[1][i] = range[i].low;
    observations[2 + feature[i]][i] = range[i].high;
  }
  return observations;
}

}  // namespace weir::internal
