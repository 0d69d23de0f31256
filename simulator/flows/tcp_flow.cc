// A TCP flow of ns-3: two hosts whose network devices send data over one link of the path and acknowledgements over the
// other.
#include <ns3/inet-socket-address.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "core/event.h"
#include "core/random.h"
#include "core/step_limit.h"
#include "endpoints/flow.h"
#include "flows/tcp_host.h"

namespace weir::sim {
namespace {

// An endless sender hands its socket this much at a time.
constexpr uint32_t kChunkBytes = 16 * kTcpSegmentBytes;
constexpr uint16_t kPort = 9;
constexpr const char* kSenderAddress = "10.0.0.1";
constexpr const char* kReceiverAddress = "10.0.0.2";

// The observer sees the packets from the sender to the receiver (retransmissions and handshake included) and
// the bytes in flight, but no acknowledgements.
class TcpFlow {
 public:
  TcpFlow(const TcpSpec& tcp, const Flow& flow)
      : spec_(flow.spec()),
        tcp_(tcp),
        observer_(flow.observer),
        random_(flow.Random(Flow::kMediaStream)),
        start_transfer_(this),
        stop_(this) {
    if (spec_.start >= spec_.stop) return;
    std::tie(sender_, sender_device_) = MakeTcpHost(kSenderAddress);
    std::tie(receiver_, receiver_device_) = MakeTcpHost(kReceiverAddress);
    sender_device_->Connect(flow.data_link, ns3::PeekPointer(receiver_device_), spec_.extra_one_way_delay, observer_);
    receiver_device_->Connect(flow.return_link, ns3::PeekPointer(sender_device_), spec_.extra_one_way_delay, nullptr);
    Listen();
    const bool starts_on = !tcp_.transfers || tcp_.transfers->start_on;
    start_transfer_.ScheduleAt(spec_.start + (starts_on ? SimDuration::Zero() : Idle()));
    stop_.ScheduleAt(spec_.stop);
  }

  ~TcpFlow() {
    Forget(listener_);
    ForgetSender();
  }
  TcpFlow(const TcpFlow&) = delete;
  TcpFlow& operator=(const TcpFlow&) = delete;

 private:
  static constexpr int64_t kEndless = 0;

  // A socket that ns-3 still holds must not call this object any more.
  static void Forget(const ns3::Ptr<ns3::TcpSocketBase>& socket) {
    if (!socket) return;
    socket->SetAcceptCallback(ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
                              ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>, const ns3::Address&>());
    const auto nothing = ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>();
    socket->SetCloseCallbacks(nothing, nothing);
    socket->SetConnectCallback(nothing, nothing);
    socket->SetRecvCallback(nothing);
    socket->SetSendCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>, uint32_t>());
  }

  void ForgetSender() {
    Forget(socket_);
    if (socket_) {
      socket_->TraceDisconnectWithoutContext("BytesInFlight", ns3::MakeCallback(&TcpFlow::OnBytesInFlight, this));
    }
  }

  void Listen() {
    listener_ = MakeTcpSocket(receiver_);
    listener_->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
    listener_->Listen();
    listener_->SetAcceptCallback(ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
                                 ns3::MakeCallback(&TcpFlow::OnAccepted, this));
  }

  void OnAccepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address&) {
    socket->SetRecvCallback(ns3::MakeCallback(&TcpFlow::OnReceived, this));
    const auto close = ns3::MakeCallback(&TcpFlow::OnPeerClosed, this);
    socket->SetCloseCallbacks(close, close);
  }

  void OnPeerClosed(ns3::Ptr<ns3::Socket> socket) { socket->Close(); }

  void OnReceived(ns3::Ptr<ns3::Socket> socket) {
    while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
      if (packet->GetSize() == 0) break;  // the end of the stream
      observer_->OnDelivered(packet->GetSize(), Now());
      transfer_bytes_received_ += packet->GetSize();
    }
    if (transfer_bytes_ == kEndless || transfer_bytes_received_ < transfer_bytes_) return;
    transfer_bytes_ = kEndless;
    start_transfer_.ScheduleAfter(Idle());
  }

  // Clamps long idle times to fit in 64 bits, beyond the end of any scenario.
  SimDuration Idle() {
    const double idle_ns = std::min(random_.Exponential(tcp_.transfers->idle_mean_s) * 1e9, 1e18);
    return SimDuration::Nanos(static_cast<int64_t>(idle_ns));
  }

  // Each transfer is a new connection, with slow start.
  void StartTransfer() {
    if (Now() >= spec_.stop) return;
    transfer_bytes_ =
        tcp_.transfers ? random_.UniformInteger(tcp_.transfers->min_bytes, tcp_.transfers->max_bytes) : kEndless;
    Connect();
  }

  void Connect() {
    ForgetSender();
    transfer_bytes_received_ = 0;
    socket_ = MakeTcpSocket(sender_);
    socket_->TraceConnectWithoutContext("BytesInFlight", ns3::MakeCallback(&TcpFlow::OnBytesInFlight, this));
    const auto ns3_stream = static_cast<uint32_t>(random_.Next() >> 33);
    socket_->SetCongestionControlAlgorithm(MakeTcpCongestionControl(tcp_, ns3_stream));
    socket_->SetConnectCallback(ns3::MakeCallback(&TcpFlow::OnConnected, this),
                                ns3::MakeCallback(&TcpFlow::OnError, this));
    socket_->SetCloseCallbacks(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>(),
                               ns3::MakeCallback(&TcpFlow::OnError, this));
    socket_->Bind();
    socket_->Connect(ns3::InetSocketAddress(ns3::Ipv4Address(kReceiverAddress), kPort));
  }

  void OnConnected(ns3::Ptr<ns3::Socket> socket) {
    if (transfer_bytes_ == kEndless) {
      socket->SetSendCallback(ns3::MakeCallback(&TcpFlow::Fill, this));
      Fill(socket, socket->GetTxAvailable());
    } else {
      to_send_ = transfer_bytes_;
      socket->SetSendCallback(ns3::MakeCallback(&TcpFlow::SendTransfer, this));
      SendTransfer(socket, socket->GetTxAvailable());
    }
  }

  // The connection has given up, for example after a long outage. Connects again, as a user would.
  void OnError(ns3::Ptr<ns3::Socket>) {  // NOLINT(performance-unnecessary-value-param): as ns-3 calls it
    if (Now() < spec_.stop) ns3::Simulator::ScheduleNow(&TcpFlow::Connect, this);
  }

  void OnBytesInFlight(uint32_t, uint32_t bytes) {
    // ns-3 goes through all segments in flight for each that it sends.
    SpendSteps(bytes / (64 * kTcpSegmentBytes));
    observer_->OnBytesInFlight(bytes, Now());
  }

  void Fill(ns3::Ptr<ns3::Socket> socket, uint32_t available) {
    for (; available >= kChunkBytes; available -= kChunkBytes) {
      if (socket->Send(ns3::Create<ns3::Packet>(kChunkBytes)) < 0) return;
    }
  }

  void SendTransfer(ns3::Ptr<ns3::Socket> socket, uint32_t available) {
    const auto bytes = static_cast<uint32_t>(std::min<int64_t>(to_send_, available));
    if (bytes == 0 || socket->Send(ns3::Create<ns3::Packet>(bytes)) < 0) return;
    to_send_ -= bytes;
    if (to_send_ == 0) socket->Close();
  }

  // Acts like a host that is switched off: packets in flight arrive, nothing follows.
  void Stop() { sender_device_->Silence(); }

  const FlowSpec& spec_;
  const TcpSpec& tcp_;
  FlowObserver* const observer_;
  RandomStream random_;
  ns3::Ptr<ns3::Node> sender_;
  ns3::Ptr<ns3::Node> receiver_;
  ns3::Ptr<LinkDevice> sender_device_;
  ns3::Ptr<LinkDevice> receiver_device_;
  ns3::Ptr<ns3::TcpSocketBase> listener_;
  // The sender's socket of the current transfer.
  ns3::Ptr<ns3::TcpSocketBase> socket_;
  // Size of the current transfer; kEndless also between transfers.
  int64_t transfer_bytes_ = kEndless;
  int64_t transfer_bytes_received_ = 0;
  int64_t to_send_ = 0;
  MemberEvent<TcpFlow, &TcpFlow::StartTransfer> start_transfer_;
  MemberEvent<TcpFlow, &TcpFlow::Stop> stop_;
};

}  // namespace

std::shared_ptr<void> TcpSpec::Start(const Flow& flow) const { return std::make_shared<TcpFlow>(*this, flow); }

}  // namespace weir::sim
