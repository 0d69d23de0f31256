// Package native is weir.h for Go, twice: by cgo (cgo.go), which compiles the library within this folder, and without
// cgo (webassembly.go), as WebAssembly under wazero. Both have the same types and functions.
package native

import (
	"errors"
	"fmt"
)

// ErrClosed is what calls after Close return.
var ErrClosed = errors.New("weir: closed")

// Error is a call that failed.
type Error struct {
	// Code is a weir_error of weir.h, below 0.
	Code int
	// Message is a sentence for the user.
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("weir: %s (%d)", e.Message, e.Code) }

// Config is what a receiver or a sender is made with: at most one of Model and BuiltIn, or a Pool with Model as its member
// "weir". Zero values are the library's defaults.
type Config struct {
	Model         *Model
	BuiltIn, Pool string
	Worker        bool
	Constraints   Constraints
	Objective     [3]float32
}

// Constants of weir.h.
const (
	MaxMediaStreams        = 64
	MaxMediaLayers         = 12
	RemoteEstimateSize     = 16
	RemoteEstimateLowerBps = 1000000000
	REMBDue                = 2
	MinPlayoutDelayUs      = 10000
)

// The structs of weir.h in their layout on 64-bit machines, which is that of WebAssembly: its pointers of 32 bits are
// padded.
type (
	// Packet is weir_packet.
	Packet struct {
		ArrivalTimeUs                           int64
		SSRC                                    uint32
		SequenceNumber                          uint16
		PayloadType, Kind                       uint8
		HasAbsSendTime, AbsSendTime             uint32
		RTPTimestamp, RTPClockRateHz            uint32
		HeaderBytes, PayloadBytes, PaddingBytes uint32
		ECN                                     uint32
	}
	// Constraints is weir_target_rate_constraints.
	Constraints struct{ MinRateBps, StartRateBps, MaxRateBps, MaxMediaRateBps int64 }
	// Estimate is weir_estimate.
	Estimate struct {
		AtTimeUs, TargetRateBps int64
		Reason                  text
	}
	// Statistics is weir_estimator_statistics.
	Statistics struct {
		TargetRateBps                   int64
		Reason                          text
		ReceiveRateBps, QueueingDelayUs int64
		LossRatio                       float64
		PacketsReceived, BytesReceived  int64
		PacketsLost                     int64
		TotalQueueingDelayUs            int64
		PacketsWithDelay, ClockRestarts int64
	}
	// SentPacket is weir_sent_packet.
	SentPacket struct {
		SendTimeUs           int64
		SizeBytes            uint32
		SequenceNumber, Kind uint16
		ProbeClusterID       int32
		_                    int32
	}
	// PacketFeedback is weir_packet_feedback.
	PacketFeedback struct {
		ReceiveTimeUs        int64
		SequenceNumber, Fate uint16
		ECN                  uint32
	}
	// Rates is weir_send_side_rates.
	Rates struct {
		AtTimeUs, TargetRateBps, PacingRateBps, CongestionWindowBytes int64
		Reason                                                        text
	}
	// ProbeCluster is weir_probe_cluster.
	ProbeCluster struct {
		TargetDataRateBps, TargetDurationUs int64
		TargetProbeCount, ID                int32
	}
	// NetworkState is weir_network_state.
	NetworkState struct {
		AtTimeUs, LinkCapacityBps int64
		State                     int32
		_                         int32
	}
	// SendSideCounters is weir_send_side_counters.
	SendSideCounters struct {
		PacketsReceived, PacketsLost, PacketsFateUnknown        uint64
		ReportsDuplicate, ReportsNotInHistory                   uint64
		PacketsInvalid, ArrivalsLate, ClockRestarts             uint64
		ProbeClusters, ProbesCarried, ProbesLimited, ProbeBytes uint64
	}
	// MediaLayer is weir_media_layer.
	MediaLayer struct {
		RateBps       int64
		Width, Height int32
	}
	// MediaStream is weir_media_stream.
	MediaStream struct {
		ID, Kind           uint32
		Priority, MayPause int32
		LayerCount         uint64
		Layers             [MaxMediaLayers]MediaLayer
	}
	// LayerAllocation is weir_layer_allocation.
	LayerAllocation struct {
		ID        uint32
		Layer     int32
		Forwarded MediaLayer
		Reason    text
		AtTimeUs  int64
	}
	// LayerRates is weir_layer_rates.
	LayerRates struct {
		AllocatedBps, DesiredBps, NextBps int64
	}
)
