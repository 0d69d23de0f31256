package main

import (
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// forwarder is one track for all who watch; whoever publishes next continues its numbers and times.
type forwarder struct {
	track *webrtc.TrackLocalStaticRTP
	// turn is held by the publisher that forwards; the one before has ended then.
	turn      chan struct{}
	number    uint16
	timestamp uint32
}

func newForwarder(codec webrtc.RTPCodecCapability, id string) (*forwarder, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(codec, id, "sfu")
	return &forwarder{track: track, turn: make(chan struct{}, 1)}, err
}

// forward copies a track until it ends.
func (f *forwarder) forward(from *webrtc.TrackRemote) {
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	var numberShift uint16
	var timestampShift uint32
	for first := true; ; first = false {
		packet, _, err := from.ReadRTP()
		if err != nil {
			return
		}
		if first {
			numberShift = f.number + 1 - packet.SequenceNumber
			timestampShift = f.timestamp + from.Codec().ClockRate/10 - packet.Timestamp
		}
		packet.SequenceNumber += numberShift
		packet.Timestamp += timestampShift
		// A retransmission comes late.
		if int16(packet.SequenceNumber-f.number) > 0 {
			f.number, f.timestamp = packet.SequenceNumber, packet.Timestamp
		}
		// The publisher's extensions were negotiated with the publisher.
		packet.Header.Extension, packet.Header.Extensions = false, nil
		_ = f.track.WriteRTP(&rtp.Packet{Header: packet.Header, Payload: packet.Payload})
	}
}
