package weir

/*
#include "weir.h"
*/
import "C"

import (
	"math"
	"unsafe"
)

// Fate of a packet that was sent.
type Fate uint16

// The fate of a packet in feedback; that of a packet which no message mentions is unknown.
const (
	Received    Fate = C.WEIR_PACKET_RECEIVED
	Lost        Fate = C.WEIR_PACKET_LOST
	FateUnknown Fate = C.WEIR_PACKET_FATE_UNKNOWN
)

// PacketFeedback is the report of one transport-wide feedback message on one packet. The receive time is by the receiver's
// clock, whose origin does not matter.
type PacketFeedback struct {
	ReceiveTimeUs  int64
	SequenceNumber uint16
	Fate           Fate
	// ECN is that of the IP header of a packet that was received, 0 to 3; RFC 8888 has it.
	ECN uint32
}

// Rates are those in force, and the most that may be in flight: math.MaxInt64 before the first feedback.
type Rates struct {
	TargetRateBps, PacingRateBps, CongestionWindowBytes int64
	Reason                                              string
}

// SendSideCounters are since construction; see weir_send_side_counters of weir.h.
type SendSideCounters struct {
	PacketsReceived, PacketsLost, PacketsFateUnknown, PacketsInvalid uint64
	ReportsDuplicate, ReportsNotInHistory, ArrivalsLate              uint64
	ClockRestarts                                                    uint64
	ProbeClusters, ProbesCarried, ProbesLimited, ProbeBytes          uint64
}

// ProbeCluster is a burst that shows what the path carries: at least TargetProbeCount packets of about the same size,
// sent evenly within TargetDurationUs at TargetDataRateBps. Media counts; padding and retransmissions fill up.
type ProbeCluster struct {
	ID                                  int32
	TargetDataRateBps, TargetDurationUs int64
	TargetProbeCount                    int
}

// CongestionState is whether more, as much, or only less may be sent.
type CongestionState int32

// The states of a path: no queue; a queue has begun; the path carries less than is sent.
const (
	Normal       CongestionState = C.WEIR_CONGESTION_NORMAL
	EarlyWarning CongestionState = C.WEIR_CONGESTION_EARLY_WARNING
	Congested    CongestionState = C.WEIR_CONGESTION_CONGESTED
)

func (s CongestionState) String() string {
	switch s {
	case Normal:
		return "normal"
	case EarlyWarning:
		return "early_warning"
	case Congested:
		return "congested"
	}
	return "unknown"
}

// NetworkState is that of the path, and the target when the state began, or what arrives while a queue or losses
// congest it.
type NetworkState struct {
	State           CongestionState
	LinkCapacityBps int64
}

// SendSide is Weir at the sender: departures and transport-wide feedback in, rates out.
type SendSide struct {
	handle  *C.weir_send_side
	packet  C.weir_sent_packet
	rates   C.weir_send_side_rates
	cluster C.weir_probe_cluster
	state   C.weir_network_state
}

// A slice of PacketFeedback is handed on as it is.
var (
	_ [unsafe.Sizeof(PacketFeedback{}) - C.sizeof_weir_packet_feedback]struct{}
	_ [C.sizeof_weir_packet_feedback - unsafe.Sizeof(PacketFeedback{})]struct{}
)

// NewSendSide makes one; Close frees it. The pacing rate is pacingFactor times the target rate; 0: the library's 1.1.
func NewSendSide(config Config, pacingFactor float64) (*SendSide, error) {
	s := &SendSide{}
	err := config.create(func(controller *C.weir_controller, c *C.weir_estimator_config) C.int {
		return C.weir_send_side_create(controller, c, C.double(pacingFactor), &s.handle)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close frees it; later calls fail. A second call does nothing.
func (s *SendSide) Close() {
	C.weir_send_side_destroy(s.handle)
	s.handle = nil
}

func (s *SendSide) failure(code C.int) error {
	if s.handle == nil {
		return ErrClosed
	}
	return failure(code)
}

// OnSentPacket takes a packet as it leaves, in the order of the transport-wide sequence numbers; others are counted as
// invalid. The rates count sizeBytes, at most 65535: with IP and UDP, say. A packet of a probe cluster has its ID, others 0.
func (s *SendSide) OnSentPacket(
	sendTimeUs int64, sequenceNumber uint16, sizeBytes int, kind Kind, probeClusterID int32,
) error {
	defer onThread()()
	p := &s.packet
	p.send_time_us = C.int64_t(sendTimeUs)
	p.sequence_number = C.uint16_t(sequenceNumber)
	p.size_bytes = C.uint32_t(sizeBytes)
	p.kind = C.uint16_t(kind)
	p.probe_cluster_id = C.int32_t(probeClusterID)
	return s.failure(C.weir_send_side_on_sent_packet(s.handle, p))
}

// OnTransportFeedback takes the packets of one feedback message in the order of sequence numbers. Impossible numbers and
// times are counted; a fate or ECN field that is none is an error, and the message is not used.
func (s *SendSide) OnTransportFeedback(feedback []PacketFeedback, nowUs int64) error {
	defer onThread()()
	first := (*C.weir_packet_feedback)(unsafe.Pointer(unsafe.SliceData(feedback)))
	return s.failure(C.weir_send_side_on_transport_feedback(s.handle, first, C.size_t(len(feedback)), C.int64_t(nowUs)))
}

// NextTimeoutUs is when OnTimeout is due; math.MaxInt64 before a packet was sent and in a pause.
func (s *SendSide) NextTimeoutUs() int64 {
	if s.handle == nil {
		return math.MaxInt64
	}
	return int64(C.weir_send_side_next_timeout_us(s.handle))
}

// OnTimeout decides where no feedback comes.
func (s *SendSide) OnTimeout(nowUs int64) error {
	defer onThread()()
	return s.failure(C.weir_send_side_on_timeout(s.handle, C.int64_t(nowUs)))
}

// OnRoundTripTime tells what RTCP reports say of the path; a time not above 0, or above a minute, is an error and changes
// nothing.
func (s *SendSide) OnRoundTripTime(us, nowUs int64) error {
	defer onThread()()
	return s.failure(C.weir_send_side_on_round_trip_time(s.handle, C.int64_t(us), C.int64_t(nowUs)))
}

// Rates are those in force; any call that feeds or configures the estimator may change them.
func (s *SendSide) Rates() (Rates, error) {
	defer onThread()()
	if err := s.failure(C.weir_send_side_get_rates(s.handle, &s.rates)); err != nil {
		return Rates{}, err
	}
	r := &s.rates
	return Rates{
		int64(r.target_rate_bps), int64(r.pacing_rate_bps), int64(r.congestion_window_bytes), reason(r.reason),
	}, nil
}

// SetDesiredRate is for media in layers: the targets for all of them, and for one layer more; 0: any more is welcome.
// From the first call on the host sends the clusters below, and the target is no more than the path has shown to carry.
func (s *SendSide) SetDesiredRate(totalBps, nextBps int64) error {
	defer onThread()()
	return s.failure(C.weir_send_side_set_desired_rate(s.handle, C.int64_t(totalBps), C.int64_t(nextBps)))
}

// TakeProbeCluster returns a cluster that has become due, once each; its ID is 0 where none has. Ask after feedback and
// timeouts, and send it at once.
func (s *SendSide) TakeProbeCluster() (ProbeCluster, error) {
	defer onThread()()
	c := &s.cluster
	if err := s.failure(C.weir_send_side_take_probe_cluster(s.handle, c)); err != nil {
		return ProbeCluster{}, err
	}
	return ProbeCluster{
		int32(c.id), int64(c.target_data_rate_bps), int64(c.target_duration_us), int(c.target_probe_count),
	}, nil
}

// NetworkState is that of now.
func (s *SendSide) NetworkState() (NetworkState, error) {
	defer onThread()()
	if err := s.failure(C.weir_send_side_get_network_state(s.handle, &s.state)); err != nil {
		return NetworkState{}, err
	}
	return NetworkState{CongestionState(s.state.state), int64(s.state.link_capacity_bps)}, nil
}

// SetObjective steers the model, at any time.
func (s *SendSide) SetObjective(o Objective) error {
	defer onThread()()
	return s.failure(C.weir_send_side_set_objective(s.handle, C.float(o.Throughput), C.float(o.Latency), C.float(o.Loss)))
}

// SetConstraints bounds the rate, at any time. The start rate sets the rate only before the first packet; six times it
// also raises what the guard believes of feedback alone, so pass the original one.
func (s *SendSide) SetConstraints(minRateBps, startRateBps, maxRateBps, nowUs int64) error {
	defer onThread()()
	return s.failure(C.weir_send_side_set_constraints(
		s.handle, C.int64_t(minRateBps), C.int64_t(startRateBps), C.int64_t(maxRateBps), C.int64_t(nowUs)))
}

// Counters are since construction.
func (s *SendSide) Counters() (SendSideCounters, error) {
	defer onThread()()
	var c C.weir_send_side_counters
	if err := s.failure(C.weir_send_side_get_counters(s.handle, &c)); err != nil {
		return SendSideCounters{}, err
	}
	return SendSideCounters{
		PacketsReceived:     uint64(c.packets_received),
		PacketsLost:         uint64(c.packets_lost),
		PacketsFateUnknown:  uint64(c.packets_fate_unknown),
		PacketsInvalid:      uint64(c.packets_invalid),
		ReportsDuplicate:    uint64(c.reports_duplicate),
		ReportsNotInHistory: uint64(c.reports_not_in_history),
		ArrivalsLate:        uint64(c.arrivals_late),
		ClockRestarts:       uint64(c.clock_restarts),
		ProbeClusters:       uint64(c.probe_clusters),
		ProbesCarried:       uint64(c.probes_carried),
		ProbesLimited:       uint64(c.probes_limited),
		ProbeBytes:          uint64(c.probe_bytes),
	}, nil
}
