// The publishers of a Janus server: one connection each, a thread that runs their timers, and who is in charge of them.
#ifndef WEIR_PLUGINS_JANUS_PUBLISHERS_H_
#define WEIR_PLUGINS_JANUS_PUBLISHERS_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>

#include "connection.h"
#include "observe/connection.h"
#include "session_description.h"

namespace weir::janus {

struct Settings {
  std::string folder;    // takes the logs and has the file in_charge; "": neither
  double in_charge = 1;  // the share without that file
  int64_t max_rate_bps = 50'000'000;
};

// A PeerConnection, by the pointer of its handle in Janus. Any thread may call it.
class Publisher {
 public:
  void SetOffer(std::string_view sdp);
  // Returns the answer to send in place of `sdp`. Begins the connection if it receives video.
  std::string SetAnswer(std::string_view sdp, const weir_controller* controller, int64_t max_rate_bps,
                        observe::Connections& connections);
  // The PeerConnection is up.
  void Start();
  void Stop();
  void OnPacket(std::span<const uint8_t> packet, int64_t now_us);
  // Returns true if the REMB of the wrapped plug-in is to be sent.
  bool OnOtherRemb(uint32_t bps, int64_t now_us);
  Feedback OnTimeout(int64_t now_us);

 private:
  std::mutex mutex_;
  Offer offer_;
  std::unique_ptr<Connection> connection_;
  std::optional<observe::Connection> observed_;
  bool is_up_ = false;
};

class Publishers {
 public:
  using Send = std::function<void(void* handle, const Feedback& feedback)>;

  // `send` is called from a thread, without locks. `report` takes errors of logs and of the file in_charge, from any
  // thread; it must not call back. Returns nullptr if the library refuses.
  static std::unique_ptr<Publishers> Create(Settings settings, Send send, observe::Report report);
  ~Publishers();
  // Ends the thread; all other calls stay possible.
  void Stop();

  // `handle` stays valid until its deleter has run.
  void Add(std::shared_ptr<void> handle);
  void Remove(void* handle);
  std::shared_ptr<Publisher> Find(void* handle);
  std::string SetAnswer(Publisher* publisher, std::string_view sdp);

 private:
  struct DestroyController {
    void operator()(weir_controller* controller) const { weir_controller_destroy(controller); }
  };
  struct Entry {
    std::shared_ptr<void> handle;
    std::shared_ptr<Publisher> publisher;
  };

  Publishers(Settings settings, weir_controller* controller, Send send, observe::Report report);
  void Run();

  const int64_t max_rate_bps_;
  const std::unique_ptr<weir_controller, DestroyController> controller_;
  const Send send_;
  observe::Connections connections_;

  std::shared_mutex mutex_;
  std::unordered_map<void*, Entry> entries_;

  std::mutex stop_mutex_;
  std::condition_variable stop_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace weir::janus

#endif  // WEIR_PLUGINS_JANUS_PUBLISHERS_H_
