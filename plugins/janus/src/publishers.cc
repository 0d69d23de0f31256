#include "publishers.h"

#include <glib.h>

#include <chrono>
#include <utility>
#include <vector>

namespace weir::janus {
namespace {

// The estimator beside Weir: that of the browser.
constexpr char kOther[] = "gcc";
constexpr std::chrono::milliseconds kTick(5);
constexpr size_t kLargestDescription = size_t{1} << 20;

}  // namespace

void Publisher::SetOffer(std::string_view sdp) {
  if (sdp.size() > kLargestDescription) return;
  Offer offer = ReadOffer(sdp);
  const std::lock_guard lock(mutex_);
  offer_ = std::move(offer);
}

std::string Publisher::SetAnswer(std::string_view sdp, const weir_controller* controller, int64_t max_rate_bps,
                                 observe::Connections& connections) {
  const std::lock_guard lock(mutex_);
  if (connection_) {
    // Another start rate during the call would set the browser's estimate back to it.
    const Answer answer = CompleteAnswer(sdp, offer_, false);
    if (answer.receives_video) connection_->SetNegotiated(answer.negotiated);
    return answer.sdp;
  }
  const observe::ConnectionId id(offer_.session_id);
  const bool in_charge = connections.IsWeirInCharge(id, g_get_monotonic_time());
  Answer answer = CompleteAnswer(sdp, offer_, in_charge);
  if (!answer.receives_video) return answer.sdp;
  connection_ = Connection::Create(controller, max_rate_bps, answer.negotiated, in_charge);
  if (!connection_) return std::string(sdp);
  observed_.emplace(connections, id, kOther, answer.negotiated.transport_cc ? "transport-cc" : "remb");
  return answer.sdp;
}

void Publisher::Start() {
  const std::lock_guard lock(mutex_);
  is_up_ = true;
}

void Publisher::Stop() {
  const std::lock_guard lock(mutex_);
  is_up_ = false;
  connection_.reset();
  observed_.reset();
}

void Publisher::OnPacket(std::span<const uint8_t> packet, int64_t now_us) {
  const std::lock_guard lock(mutex_);
  if (connection_) connection_->OnPacket(packet, now_us);
}

bool Publisher::OnOtherRemb(uint32_t bps, int64_t now_us) {
  const std::lock_guard lock(mutex_);
  if (!connection_) return true;
  connection_->OnOtherRemb(bps, now_us);
  return !connection_->in_charge();
}

Feedback Publisher::OnTimeout(int64_t now_us) {
  const std::lock_guard lock(mutex_);
  if (!connection_ || !is_up_) return {};
  connection_->SetInCharge(observed_->IsWeirInCharge(now_us));
  Feedback feedback = connection_->OnTimeout(now_us);
  const auto latest_packet_us = connection_->latest_packet_us();
  if (latest_packet_us && observed_->ObservationIsDue(*latest_packet_us, now_us))
    observed_->Observe(connection_->GetStatistics(now_us), connection_->other_remb_bps(), now_us);
  return feedback;
}

std::unique_ptr<Publishers> Publishers::Create(Settings settings, Send send, observe::Report report) {
  weir_model* model = nullptr;
  if (weir_model_load_shipped(&model) < 0) return nullptr;
  weir_controller* controller = nullptr;
  const int result = weir_controller_create_policy(model, 0, &controller);
  weir_model_destroy(model);
  if (result < 0) return nullptr;
  return std::unique_ptr<Publishers>(
      new Publishers(std::move(settings), controller, std::move(send), std::move(report)));
}

Publishers::Publishers(Settings settings, weir_controller* controller, Send send, observe::Report report)
    : max_rate_bps_(settings.max_rate_bps),
      controller_(controller),
      send_(std::move(send)),
      connections_("janus", std::move(settings.folder), settings.in_charge, std::move(report)) {
  thread_ = std::thread([this] { Run(); });
}

Publishers::~Publishers() { Stop(); }

void Publishers::Stop() {
  {
    const std::lock_guard lock(stop_mutex_);
    is_stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Publishers::Add(std::shared_ptr<void> handle) {
  const std::lock_guard lock(mutex_);
  void* key = handle.get();
  entries_[key] = {std::move(handle), std::make_shared<Publisher>()};
}

void Publishers::Remove(void* handle) {
  Entry removed;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(handle);
  if (entry == entries_.end()) return;
  removed = std::move(entry->second);
  entries_.erase(entry);
}

std::shared_ptr<Publisher> Publishers::Find(void* handle) {
  const std::shared_lock lock(mutex_);
  const auto entry = entries_.find(handle);
  return entry == entries_.end() ? nullptr : entry->second.publisher;
}

std::string Publishers::SetAnswer(Publisher* publisher, std::string_view sdp) {
  return publisher->SetAnswer(sdp, controller_.get(), max_rate_bps_, connections_);
}

void Publishers::Run() {
  std::vector<Entry> entries;
  std::unique_lock stop_lock(stop_mutex_);
  while (!stop_.wait_for(stop_lock, kTick, [this] { return is_stopping_; })) {
    {
      const std::shared_lock lock(mutex_);
      for (const auto& [handle, entry] : entries_) entries.push_back(entry);
    }
    for (const Entry& entry : entries) {
      const Feedback feedback = entry.publisher->OnTimeout(g_get_monotonic_time());
      if (feedback.remb_bps) send_(entry.handle.get(), feedback);
    }
    entries.clear();
  }
}

}  // namespace weir::janus
