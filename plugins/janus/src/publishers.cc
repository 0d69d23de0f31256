#include "publishers.h"

#include <glib.h>

#include <chrono>
#include <utility>
#include <vector>

namespace weir::janus {
namespace {

constexpr std::chrono::milliseconds kTick(5);
constexpr int64_t kInChargeIntervalUs = 500'000;
constexpr int64_t kObservationIntervalUs = 1'000'000;
constexpr size_t kLargestDescription = size_t{1} << 20;

std::string RandomId() {
  gchar* uuid = g_uuid_string_random();
  std::string id(uuid);
  g_free(uuid);
  return id;
}

}  // namespace

void Publisher::SetOffer(std::string_view sdp) {
  if (sdp.size() > kLargestDescription) return;
  Offer offer = ReadOffer(sdp);
  const std::lock_guard lock(mutex_);
  offer_ = std::move(offer);
}

std::string Publisher::SetAnswer(std::string_view sdp, const weir_controller* controller, const Settings& settings,
                                 const InCharge& in_charge) {
  const std::lock_guard lock(mutex_);
  const std::string id = connection_ ? id_ : offer_.session_id.empty() ? RandomId() : offer_.session_id;
  const bool weir_in_charge = in_charge.Includes(id);
  // Another start rate during the call would set the browser's estimate back to it.
  Answer answer = CompleteAnswer(sdp, offer_, weir_in_charge && !connection_);
  if (!answer.receives_video) return answer.sdp;
  if (connection_) {
    connection_->SetNegotiated(answer.negotiated);
    return answer.sdp;
  }
  connection_ = Connection::Create(controller, settings.max_rate_bps, answer.negotiated, weir_in_charge);
  if (!connection_) return std::string(sdp);
  id_ = id;
  unix_minus_monotonic_us_ = g_get_real_time() - g_get_monotonic_time();
  log_.emplace(settings.folder, id_, answer.negotiated.transport_cc, g_get_real_time());
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
  log_.reset();
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

void Publisher::SetInCharge(const InCharge& in_charge) {
  const std::lock_guard lock(mutex_);
  if (connection_) connection_->SetInCharge(in_charge.Includes(id_));
}

Feedback Publisher::OnTimeout(int64_t now_us, std::string* error) {
  const std::lock_guard lock(mutex_);
  if (!connection_ || !is_up_) return {};
  Feedback feedback = connection_->OnTimeout(now_us);
  if (log_ && now_us >= next_observation_us_) {
    next_observation_us_ = now_us + kObservationIntervalUs;
    const auto statistics = connection_->Observe(now_us);
    if (statistics && !log_->Write(*statistics, connection_->in_charge(), connection_->other_remb_bps(),
                                   now_us + unix_minus_monotonic_us_)) {
      log_.reset();
      *error = "the log of connection " + id_ + " ends: it cannot be written, or is full";
    }
  }
  return feedback;
}

std::unique_ptr<Publishers> Publishers::Create(Settings settings, Send send, Report report) {
  weir_model* model = nullptr;
  if (weir_model_load_shipped(&model) < 0) return nullptr;
  weir_controller* controller = nullptr;
  const int result = weir_controller_create_policy(model, 0, &controller);
  weir_model_destroy(model);
  if (result < 0) return nullptr;
  return std::unique_ptr<Publishers>(
      new Publishers(std::move(settings), controller, std::move(send), std::move(report)));
}

Publishers::Publishers(Settings settings, weir_controller* controller, Send send, Report report)
    : settings_(std::move(settings)),
      controller_(controller),
      send_(std::move(send)),
      report_(std::move(report)),
      in_charge_(settings_.in_charge) {
  if (!settings_.folder.empty()) file_.emplace(settings_.folder + "/in_charge", settings_.in_charge);
  PollInCharge();
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
  const std::shared_lock lock(mutex_);
  return publisher->SetAnswer(sdp, controller_.get(), settings_, in_charge_);
}

void Publishers::PollInCharge() {
  std::string error;
  const std::optional<InCharge> changed = file_ ? file_->Poll(&error) : std::nullopt;
  if (!error.empty()) report_(error);
  if (!changed) return;
  const std::lock_guard lock(mutex_);
  in_charge_ = *changed;
  for (const auto& [handle, entry] : entries_) entry.publisher->SetInCharge(in_charge_);
}

void Publishers::Run() {
  int64_t polled_us = 0;
  std::vector<Entry> entries;
  std::unique_lock stop_lock(stop_mutex_);
  while (!stop_.wait_for(stop_lock, kTick, [this] { return is_stopping_; })) {
    const int64_t now_us = g_get_monotonic_time();
    if (now_us - polled_us >= kInChargeIntervalUs) {
      polled_us = now_us;
      PollInCharge();
    }
    {
      const std::shared_lock lock(mutex_);
      for (const auto& [handle, entry] : entries_) entries.push_back(entry);
    }
    for (const Entry& entry : entries) {
      std::string error;
      const Feedback feedback = entry.publisher->OnTimeout(g_get_monotonic_time(), &error);
      if (feedback.remb_bps) send_(entry.handle.get(), feedback);
      if (!error.empty()) report_(error);
    }
    entries.clear();
  }
}

}  // namespace weir::janus
