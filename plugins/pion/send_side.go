package weir

import (
	"unsafe"

	"weir/pion/internal/native"
)

// Fate of a packet that was sent.
type Fate uint16

// The fate of a packet in feedback; that of a packet which no message mentions is unknown.
const (
	Received Fate = iota
	Lost
	FateUnknown
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
	Normal CongestionState = iota
	EarlyWarning
	Congested
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
	// Recorder gets packets and feedback; nil: none does.
	Recorder PacketRecorder
	native   native.SendSide
	*sendSideArguments
}

// sendSideArguments of calls; kept, they cost no allocation. They are in memory of their own, since cgo allows no pointer
// of Go there.
type sendSideArguments struct {
	packet  native.SentPacket
	rates   native.Rates
	cluster native.ProbeCluster
	state   native.NetworkState
}

// A slice of PacketFeedback is handed on as it is.
var _ [unsafe.Sizeof(native.PacketFeedback{})]struct{} = [unsafe.Sizeof(PacketFeedback{})]struct{}{}

// NewSendSide makes one; Close frees it. The pacing rate is pacingFactor times the target rate; 0: the library's 1.1.
func NewSendSide(config Config, pacingFactor float64) (*SendSide, error) {
	c, err := config.native()
	if err != nil {
		return nil, err
	}
	s := &SendSide{sendSideArguments: &sendSideArguments{}}
	if s.native, err = native.NewSendSide(c, pacingFactor); err != nil {
		return nil, err
	}
	return s, nil
}

// Close frees it; later calls fail. A second call does nothing.
func (s *SendSide) Close() { s.native.Close() }

// OnSentPacket takes a packet as it leaves, in the order of the transport-wide sequence numbers; others are counted as
// invalid. The rates count sizeBytes, at most 65535: with IP and UDP, say. A packet of a probe cluster has its ID, others 0.
func (s *SendSide) OnSentPacket(
	sendTimeUs int64, sequenceNumber uint16, sizeBytes int, kind Kind, probeClusterID int32,
) error {
	s.packet = native.SentPacket{
		SendTimeUs: sendTimeUs, SizeBytes: uint32(sizeBytes), SequenceNumber: sequenceNumber, Kind: uint16(kind),
		ProbeClusterID: probeClusterID,
	}
	if s.Recorder != nil {
		s.Recorder.Sent(sequenceNumber, sizeBytes, kind)
	}
	return s.native.OnSentPacket(&s.packet)
}

// OnTransportFeedback takes the packets of one feedback message in the order of sequence numbers. Impossible numbers and
// times are counted; a fate or ECN field that is none is an error, and the message is not used.
func (s *SendSide) OnTransportFeedback(feedback []PacketFeedback, nowUs int64) error {
	if s.Recorder != nil {
		s.Recorder.Feedback(feedback)
	}
	first := (*native.PacketFeedback)(unsafe.Pointer(unsafe.SliceData(feedback)))
	return s.native.OnTransportFeedback(unsafe.Slice(first, len(feedback)), nowUs)
}

// NextTimeoutUs is when OnTimeout is due; math.MaxInt64 before a packet was sent and in a pause.
func (s *SendSide) NextTimeoutUs() int64 { return s.native.NextTimeoutUs() }

// OnTimeout decides where no feedback comes.
func (s *SendSide) OnTimeout(nowUs int64) error { return s.native.OnTimeout(nowUs) }

// OnRoundTripTime tells what RTCP reports say of the path; a time not above 0, or above a minute, is an error and changes
// nothing.
func (s *SendSide) OnRoundTripTime(us, nowUs int64) error {
	return s.native.OnRoundTripTime(us, nowUs)
}

// Rates are those in force; any call that feeds or configures the estimator may change them.
func (s *SendSide) Rates() (Rates, error) {
	if err := s.native.Rates(&s.rates); err != nil {
		return Rates{}, err
	}
	r := &s.rates
	return Rates{r.TargetRateBps, r.PacingRateBps, r.CongestionWindowBytes, s.native.Text(r.Reason)}, nil
}

// SetDesiredRate is for media in layers: the targets for all of them, and for one layer more; 0: any more is welcome.
// From the first call on the host sends the clusters below, and the target is no more than the path has shown to carry.
func (s *SendSide) SetDesiredRate(totalBps, nextBps int64) error {
	return s.native.SetDesiredRate(totalBps, nextBps)
}

// TakeProbeCluster returns a cluster that has become due, once each; its ID is 0 where none has. Ask after feedback and
// timeouts, and send it at once.
func (s *SendSide) TakeProbeCluster() (ProbeCluster, error) {
	if err := s.native.TakeProbeCluster(&s.cluster); err != nil {
		return ProbeCluster{}, err
	}
	c := &s.cluster
	return ProbeCluster{c.ID, c.TargetDataRateBps, c.TargetDurationUs, int(c.TargetProbeCount)}, nil
}

// NetworkState is that of now.
func (s *SendSide) NetworkState() (NetworkState, error) {
	if err := s.native.NetworkState(&s.state); err != nil {
		return NetworkState{}, err
	}
	return NetworkState{CongestionState(s.state.State), s.state.LinkCapacityBps}, nil
}

// SetObjective steers the model, at any time.
func (s *SendSide) SetObjective(o Objective) error {
	return s.native.SetObjective(o.Throughput, o.Latency, o.Loss)
}

// SetConstraints bounds the rate, at any time. The start rate sets the rate only before the first packet; six times it
// also raises what the guard believes of feedback alone, so pass the original one.
func (s *SendSide) SetConstraints(constraints Constraints, nowUs int64) error {
	given := native.Constraints(constraints)
	return s.native.SetConstraints(&given, nowUs)
}

// Statistics are those of the packets that feedback reports; the last second ends at the latest decision.
func (s *SendSide) Statistics() (Statistics, error) {
	var now native.Statistics
	if err := s.native.Statistics(&now); err != nil {
		return Statistics{}, err
	}
	return statistics(&now, s.native.Text(now.Reason)), nil
}

// LastSecond returns Statistics, and false if no packet was sent in the last second.
func (s *SendSide) LastSecond(nowUs int64) (Statistics, bool) {
	if s.packet.SendTimeUs == 0 || nowUs-s.packet.SendTimeUs > recordIntervalUs {
		return Statistics{}, false
	}
	statistics, err := s.Statistics()
	return statistics, err == nil
}

// Counters are since construction.
func (s *SendSide) Counters() (SendSideCounters, error) {
	var c native.SendSideCounters
	err := s.native.Counters(&c)
	return SendSideCounters{
		PacketsReceived:     c.PacketsReceived,
		PacketsLost:         c.PacketsLost,
		PacketsFateUnknown:  c.PacketsFateUnknown,
		PacketsInvalid:      c.PacketsInvalid,
		ReportsDuplicate:    c.ReportsDuplicate,
		ReportsNotInHistory: c.ReportsNotInHistory,
		ArrivalsLate:        c.ArrivalsLate,
		ClockRestarts:       c.ClockRestarts,
		ProbeClusters:       c.ProbeClusters,
		ProbesCarried:       c.ProbesCarried,
		ProbesLimited:       c.ProbesLimited,
		ProbeBytes:          c.ProbeBytes,
	}, err
}
