package weir

import (
	"time"

	"weir/pion/internal/native"
)

// Kind of a packet.
type Kind uint8

// Kinds of RTP packets.
const (
	Video Kind = iota
	Audio
	Probe
	Retransmission
)

// Packet is one RTP packet as received, its authenticity confirmed by SRTP.
type Packet struct {
	ArrivalTimeUs  int64
	SSRC           uint32
	SequenceNumber uint16
	PayloadType    uint8
	Kind           Kind
	// AbsSendTime is the header extension's 24 bits, when HasAbsSendTime.
	HasAbsSendTime bool
	AbsSendTime    uint32
	// Used while no stream has had abs-send-time for 10 s; the clock rate is 1000 to 1000000, 0 when unknown.
	RTPTimestamp, RTPClockRateHz            uint32
	HeaderBytes, PayloadBytes, PaddingBytes uint32
	// ECN is the ECN field of the packet's IP header, 0 to 3, where the host has it.
	ECN uint8
}

// Estimate is a rate and why it is what it is: "start", "controller", "guard_stale", ... (weir_estimate of weir.h).
type Estimate struct {
	AtTimeUs      int64
	TargetRateBps int64
	Reason        string
}

// Statistics is for a host's getStats.
type Statistics struct {
	TargetRateBps int64
	Reason        string
	// Means of the last second: rate, queueing delay of packets with a send time, and loss ratio, 0 to 1.
	ReceiveRateBps int64
	QueueingDelay  time.Duration
	LossRatio      float64
	// Since the estimator was made; duplicates count nowhere, and PacketsLost falls when a packet comes late.
	PacketsReceived, BytesReceived, PacketsLost int64
	// ClockRestarts is how often a sender's clock had leapt.
	ClockRestarts int64
}

// Estimator is the receiver's: packets in, estimates for REMB out.
type Estimator struct {
	native native.Estimator
	// Arguments of calls; as fields they cost no allocation.
	packet   native.Packet
	estimate native.Estimate
	remb     [1040]byte
}

// NewEstimator makes one; Close frees it.
func NewEstimator(config Config) (*Estimator, error) {
	c, err := config.native()
	if err != nil {
		return nil, err
	}
	e := &Estimator{}
	if e.native, err = native.NewEstimator(c); err != nil {
		return nil, err
	}
	return e, nil
}

// Close frees the estimator; later calls fail. A second call does nothing.
func (e *Estimator) Close() { e.native.Close() }

// OnPacket takes a packet. Malformed, duplicate and late ones are no errors: they are counted.
func (e *Estimator) OnPacket(packet *Packet) error {
	e.packet = native.Packet{
		ArrivalTimeUs:  packet.ArrivalTimeUs,
		SSRC:           packet.SSRC,
		SequenceNumber: packet.SequenceNumber,
		PayloadType:    packet.PayloadType,
		Kind:           uint8(packet.Kind),
		AbsSendTime:    packet.AbsSendTime,
		RTPTimestamp:   packet.RTPTimestamp,
		RTPClockRateHz: packet.RTPClockRateHz,
		HeaderBytes:    packet.HeaderBytes,
		PayloadBytes:   packet.PayloadBytes,
		PaddingBytes:   packet.PaddingBytes,
		ECN:            uint32(packet.ECN),
	}
	if packet.HasAbsSendTime {
		e.packet.HasAbsSendTime = 1
	}
	return e.native.OnPacket(&e.packet)
}

// RemoveStream ends a stream: it leaves the REMB until a packet of it arrives again.
func (e *Estimator) RemoveStream(ssrc uint32) error { return e.native.RemoveStream(ssrc) }

// NextTimeoutUs is when OnTimeout is due: math.MinInt64 for at once.
func (e *Estimator) NextTimeoutUs() int64 { return e.native.NextTimeoutUs() }

// OmitsLosses is whether losses do not depend on the rate at present: transport-wide feedback leaves them out then.
func (e *Estimator) OmitsLosses() bool { return e.native.OmitsLosses() }

// OnTimeout decides; true when a REMB is due now. The estimator is active from the first call.
func (e *Estimator) OnTimeout(nowUs int64) (Estimate, bool, error) {
	e.estimate = native.Estimate{}
	bits, err := e.native.OnTimeout(nowUs, &e.estimate)
	return e.result(), bits&native.REMBDue != 0, err
}

// Latest is the rate in force, whether or not it was sent yet.
func (e *Estimator) Latest() (Estimate, error) {
	e.estimate = native.Estimate{}
	err := e.native.Estimate(&e.estimate)
	return e.result(), err
}

func (e *Estimator) result() Estimate {
	return Estimate{e.estimate.AtTimeUs, e.estimate.TargetRateBps, e.native.Text(e.estimate.Reason)}
}

// REMB is the RTCP packet with the rate in force and the streams that have not ended; valid until the next call.
func (e *Estimator) REMB(senderSSRC uint32) ([]byte, error) {
	size, err := e.native.WriteREMB(senderSSRC, e.remb[:])
	if err != nil {
		return nil, err
	}
	return e.remb[:size], nil
}

// RemoteEstimate is the RTCP packet that goes with each REMB where the sender has transport-cc: GCC follows REMB then.
func RemoteEstimate() []byte {
	packet := make([]byte, native.RemoteEstimateSize)
	native.WriteRemoteEstimate(packet)
	return packet
}

// SetObjective steers the model, at any time in a call.
func (e *Estimator) SetObjective(o Objective) error {
	return e.native.SetObjective(o.Throughput, o.Latency, o.Loss)
}

// SetConstraints bounds the rate, at any time in a call; the start rate matters only before the first OnTimeout.
func (e *Estimator) SetConstraints(constraints Constraints, nowUs int64) error {
	given := native.Constraints(constraints)
	return e.native.SetConstraints(&given, nowUs)
}

// Statistics is what a host shows; nowUs is what the last second ends at.
func (e *Estimator) Statistics(nowUs int64) (Statistics, error) {
	var s native.Statistics
	if err := e.native.Statistics(nowUs, &s); err != nil {
		return Statistics{}, err
	}
	return statistics(&s, e.native.Text(s.Reason)), nil
}

func statistics(s *native.Statistics, reason string) Statistics {
	return Statistics{
		TargetRateBps:   s.TargetRateBps,
		Reason:          reason,
		ReceiveRateBps:  s.ReceiveRateBps,
		QueueingDelay:   time.Duration(s.QueueingDelayUs) * time.Microsecond,
		LossRatio:       s.LossRatio,
		PacketsReceived: s.PacketsReceived,
		BytesReceived:   s.BytesReceived,
		PacketsLost:     s.PacketsLost,
		ClockRestarts:   s.ClockRestarts,
	}
}
