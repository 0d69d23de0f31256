#include "virtual_call/subscriber_view.h"

#include <algorithm>
#include <cmath>

namespace weir::sim {
namespace {

constexpr SimDuration kSecond = SimDuration::Seconds(1);

double Seconds(SimDuration duration) { return static_cast<double>(duration.ns()) * 1e-9; }

}  // namespace

SubscriberView::SubscriberView(Publishers publishers, const Link* link, SimTime start, SimTime end)
    : publishers_(publishers),
      link_(link),
      start_(start),
      end_(end),
      viewings_(publishers.size()),
      last_rendered_(publishers.size(), kTimeZero),
      layers_(publishers.size(), -1),
      added_until_(start),
      forwarded_bits_(static_cast<size_t>((end - kTimeZero).ns() / kSecond.ns()) + 1) {}

void SubscriberView::OnFrame(size_t stream, SimTime rendered_time, SimTime capture_time) {
  // Render times do not decrease.
  last_rendered_[stream] = std::max(last_rendered_[stream], rendered_time);
  viewings_[stream].OnFrame({.rendered_time = last_rendered_[stream], .capture_time = capture_time});
  if (last_rendered_[stream] <= end_) delays_ms_.push_back(ToMilliseconds(last_rendered_[stream] - capture_time));
}

void SubscriberView::OnLayers(std::span<const int> layers, SimTime now) {
  AddForwarded(now);
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (layers[i] < layers_[i]) ++lowered_;
    if (layers[i] > layers_[i]) ++raised_;
    layers_[i] = layers[i];
  }
}

void SubscriberView::AddForwarded(SimTime until) {
  double rate_bps = 0;
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (layers_[i] >= 0)
      rate_bps += static_cast<double>(publishers_[i]->NominalRate(static_cast<size_t>(layers_[i])).bps());
  }
  while (added_until_ < std::min(until, end_)) {
    const auto second = static_cast<size_t>((added_until_ - kTimeZero).ns() / kSecond.ns());
    const SimTime next = std::min({until, end_, kTimeZero + kSecond * static_cast<int64_t>(second + 1)});
    forwarded_bits_[second] += rate_bps * Seconds(next - added_until_);
    added_until_ = next;
  }
}

DataRate SubscriberView::FittingRate(double capacity_bps) const {
  std::vector<DataRate> forwarded(publishers_.size(), DataRate::Zero());
  DataRate sum = DataRate::Zero();
  for (size_t layer = 0; layer < kSimulcastLayers; ++layer) {
    for (size_t i = 0; i < publishers_.size(); ++i) {
      // Layers of a stream build upon each other in the order, though only the highest is sent.
      if (layer > 0 && forwarded[i] != publishers_[i]->NominalRate(layer - 1)) continue;
      const DataRate with_layer = sum - forwarded[i] + publishers_[i]->NominalRate(layer);
      if (static_cast<double>(with_layer.bps()) > kFittingShare * capacity_bps) continue;
      sum = with_layer;
      forwarded[i] = publishers_[i]->NominalRate(layer);
    }
  }
  return sum;
}

nlohmann::ordered_json SubscriberView::Finish(SimTime now) {
  AddForwarded(now);
  nlohmann::ordered_json fitting = nlohmann::ordered_json::array(), forwarded = nlohmann::ordered_json::array();
  for (SimTime second = start_; second + kSecond <= end_; second = second + kSecond) {
    const auto& capacity = link_->spec().capacity;
    const double capacity_bps = capacity ? static_cast<double>(capacity->BitsBetween(second, second + kSecond)) : 1e12;
    fitting.push_back(FittingRate(capacity_bps).bps());
    const auto index = static_cast<size_t>((second - kTimeZero).ns() / kSecond.ns());
    forwarded.push_back(std::llround(forwarded_bits_[index]));
  }
  double frozen_share = 0;
  for (Viewing& viewing : viewings_)
    frozen_share += viewing.Finish(end_).frozen_share / static_cast<double>(viewings_.size());
  std::ranges::sort(delays_ms_);
  nlohmann::ordered_json delay_ms = nullptr;
  if (!delays_ms_.empty()) delay_ms = delays_ms_[delays_ms_.size() * 95 / 100];
  return {{"streams", publishers_.size()},
          {"fitting_bps", std::move(fitting)},
          {"forwarded_bps", std::move(forwarded)},
          {"layers_lowered", lowered_},
          {"layers_raised", raised_},
          {"frozen_share", frozen_share},
          {"frames_rendered", delays_ms_.size()},
          {"end_to_end_delay_ms_p95", std::move(delay_ms)}};
}

}  // namespace weir::sim
