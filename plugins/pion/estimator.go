package weir

/*
#include <string.h>
#include "weir.h"
*/
import "C"

import (
	"time"
	"unsafe"
)

// Kind of a packet.
type Kind uint8

// Kinds of RTP packets.
const (
	Video          Kind = C.WEIR_PACKET_VIDEO
	Audio          Kind = C.WEIR_PACKET_AUDIO
	Probe          Kind = C.WEIR_PACKET_PROBE
	Retransmission Kind = C.WEIR_PACKET_RETRANSMISSION
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
	handle *C.weir_estimator
	// Arguments of calls into C; as fields they cost no allocation.
	packet   C.weir_packet
	estimate C.weir_estimate
	remb     [1040]byte
}

// NewEstimator makes one; Close frees it.
func NewEstimator(config Config) (*Estimator, error) {
	e := &Estimator{}
	err := config.create(func(controller *C.weir_controller, c *C.weir_estimator_config) C.int {
		return C.weir_estimator_create(controller, c, &e.handle)
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Close frees the estimator; later calls fail. A second call does nothing.
func (e *Estimator) Close() {
	C.weir_estimator_destroy(e.handle)
	e.handle = nil
}

// failure is the error of a call on this estimator.
func (e *Estimator) failure(code C.int) error {
	if e.handle == nil {
		return ErrClosed
	}
	return failure(code)
}

// OnPacket takes a packet. Malformed, duplicate and late ones are no errors: they are counted.
func (e *Estimator) OnPacket(packet *Packet) error {
	defer onThread()()
	p := &e.packet
	p.arrival_time_us = C.int64_t(packet.ArrivalTimeUs)
	p.ssrc = C.uint32_t(packet.SSRC)
	p.sequence_number = C.uint16_t(packet.SequenceNumber)
	p.payload_type = C.uint8_t(packet.PayloadType)
	p.kind = C.uint8_t(packet.Kind)
	p.has_abs_send_time = 0
	if packet.HasAbsSendTime {
		p.has_abs_send_time = 1
	}
	p.abs_send_time = C.uint32_t(packet.AbsSendTime)
	p.rtp_timestamp = C.uint32_t(packet.RTPTimestamp)
	p.rtp_clock_rate_hz = C.uint32_t(packet.RTPClockRateHz)
	p.header_bytes = C.uint32_t(packet.HeaderBytes)
	p.payload_bytes = C.uint32_t(packet.PayloadBytes)
	p.padding_bytes = C.uint32_t(packet.PaddingBytes)
	return e.failure(C.weir_estimator_on_packet(e.handle, p))
}

// RemoveStream ends a stream: it leaves the REMB until a packet of it arrives again.
func (e *Estimator) RemoveStream(ssrc uint32) error {
	defer onThread()()
	return e.failure(C.weir_estimator_remove_stream(e.handle, C.uint32_t(ssrc)))
}

// NextTimeoutUs is when OnTimeout is due: math.MinInt64 for at once.
func (e *Estimator) NextTimeoutUs() int64 { return int64(C.weir_estimator_next_timeout_us(e.handle)) }

// OnTimeout decides; true when a REMB is due now. The estimator is active from the first call.
func (e *Estimator) OnTimeout(nowUs int64) (Estimate, bool, error) {
	defer onThread()()
	e.estimate = C.weir_estimate{}
	code := C.weir_estimator_on_timeout(e.handle, C.int64_t(nowUs), &e.estimate)
	return e.told(), code > 0 && code&C.WEIR_REMB_DUE != 0, e.failure(code)
}

// Latest is the rate in force, whether or not it was sent yet.
func (e *Estimator) Latest() (Estimate, error) {
	defer onThread()()
	e.estimate = C.weir_estimate{}
	code := C.weir_estimator_get_estimate(e.handle, &e.estimate)
	return e.told(), e.failure(code)
}

func (e *Estimator) told() Estimate {
	if e.estimate.reason == nil {
		return Estimate{}
	}
	return Estimate{int64(e.estimate.at_time_us), int64(e.estimate.target_rate_bps), reason(e.estimate.reason)}
}

// REMB is the RTCP packet with the rate in force and the streams that have not ended; valid until the next call.
func (e *Estimator) REMB(senderSSRC uint32) ([]byte, error) {
	defer onThread()()
	size := C.weir_estimator_write_remb(e.handle, C.uint32_t(senderSSRC), (*C.uint8_t)(&e.remb[0]), C.size_t(len(e.remb)))
	if err := e.failure(size); err != nil {
		return nil, err
	}
	return e.remb[:size], nil
}

// RemoteEstimate is the RTCP packet that goes with each REMB where the sender has transport-cc: GCC follows REMB then.
func RemoteEstimate() []byte {
	packet := make([]byte, C.WEIR_REMOTE_ESTIMATE_SIZE)
	C.weir_write_remote_estimate(C.WEIR_REMOTE_ESTIMATE_LOWER_BPS, (*C.uint8_t)(&packet[0]))
	return packet
}

// SetObjective steers the model, at any time in a call.
func (e *Estimator) SetObjective(o Objective) error {
	defer onThread()()
	return e.failure(C.weir_estimator_set_objective(e.handle, C.float(o.Throughput), C.float(o.Latency), C.float(o.Loss)))
}

// SetConstraints bounds the rate, at any time in a call; the start rate matters only before the first OnTimeout.
func (e *Estimator) SetConstraints(minRateBps, startRateBps, maxRateBps, nowUs int64) error {
	defer onThread()()
	return e.failure(C.weir_estimator_set_constraints(
		e.handle, C.int64_t(minRateBps), C.int64_t(startRateBps), C.int64_t(maxRateBps), C.int64_t(nowUs)))
}

// Statistics is what a host shows; nowUs is what the last second ends at.
func (e *Estimator) Statistics(nowUs int64) (Statistics, error) {
	defer onThread()()
	var s C.weir_estimator_statistics
	if err := e.failure(C.weir_estimator_get_statistics(e.handle, C.int64_t(nowUs), &s)); err != nil {
		return Statistics{}, err
	}
	return Statistics{
		TargetRateBps:   int64(s.target_rate_bps),
		Reason:          reason(s.reason),
		ReceiveRateBps:  int64(s.receive_rate_bps),
		QueueingDelay:   time.Duration(s.queueing_delay_us) * time.Microsecond,
		LossRatio:       float64(s.loss_ratio),
		PacketsReceived: int64(s.packets_received),
		BytesReceived:   int64(s.bytes_received),
		PacketsLost:     int64(s.packets_lost),
		ClockRestarts:   int64(s.clock_restarts),
	}, nil
}

// reason is a name in the library's static storage, which needs no copy.
func reason(name *C.char) string {
	return unsafe.String((*byte)(unsafe.Pointer(name)), int(C.strlen(name)))
}
