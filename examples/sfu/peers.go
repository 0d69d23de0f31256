package main

import (
	"errors"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/remb"
)

var (
	vp8  = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000}
	opus = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2}
)

// newPeer makes a PeerConnection for VP8 and Opus, with what `register` adds. Each has an API of its own.
func newPeer(
	register func(*webrtc.SettingEngine, *webrtc.MediaEngine, *interceptor.Registry) error,
) (*webrtc.PeerConnection, error) {
	settings, media, registry := &webrtc.SettingEngine{}, &webrtc.MediaEngine{}, &interceptor.Registry{}
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeQueryOnly)
	settings.SetIncludeLoopbackCandidate(true)
	// A page that is closed sends no goodbye.
	settings.SetICETimeouts(5*time.Second, 10*time.Second, 2*time.Second)
	rtx := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeRTX, ClockRate: vp8.ClockRate, SDPFmtpLine: "apt=96"}
	err := errors.Join(
		settings.SetAnsweringDTLSRole(webrtc.DTLSRoleServer),
		media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: vp8, PayloadType: 96}, webrtc.RTPCodecTypeVideo),
		media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: rtx, PayloadType: 97}, webrtc.RTPCodecTypeVideo),
		media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: opus, PayloadType: 111}, webrtc.RTPCodecTypeAudio),
		register(settings, media, registry))
	if err != nil {
		return nil, err
	}
	api := webrtc.NewAPI(
		webrtc.WithSettingEngine(*settings), webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	return api.NewPeerConnection(webrtc.Configuration{})
}

// newReceivingPeer is for a publisher.
func newReceivingPeer(model *weir.Model) (*webrtc.PeerConnection, *remb.Receiver, error) {
	receiver, err := remb.New(remb.Options{Config: weir.Config{Model: model}})
	if err != nil {
		return nil, nil, err
	}
	connection, err := newPeer(
		func(settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
			return errors.Join(
				receiver.Attach(settings, media, registry), remb.RegisterDefaultInterceptors(media, registry))
		})
	if err != nil {
		return nil, nil, errors.Join(err, receiver.Close())
	}
	return connection, receiver, nil
}

// newSendingPeer is for a watcher.
func newSendingPeer(model *weir.Model, startBps int64) (*webrtc.PeerConnection, *cc.Estimator, error) {
	estimator, err := cc.NewEstimator(cc.Options{Config: weir.Config{Model: model, StartRateBps: startBps}})
	if err != nil {
		return nil, nil, err
	}
	connection, err := newPeer(
		func(_ *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
			controller, err := pioncc.NewInterceptor(func() (pioncc.BandwidthEstimator, error) { return estimator, nil })
			if err != nil {
				return err
			}
			registry.Add(controller)
			media.RegisterFeedback(webrtc.RTCPFeedback{Type: webrtc.TypeRTCPFBTransportCC}, webrtc.RTPCodecTypeVideo)
			media.RegisterFeedback(webrtc.RTCPFeedback{Type: webrtc.TypeRTCPFBTransportCC}, webrtc.RTPCodecTypeAudio)
			return errors.Join(
				cc.ConfigureTWCCHeaderExtensionSender(media, registry),
				webrtc.ConfigureNack(media, registry),
				webrtc.ConfigureRTCPReports(registry))
		})
	if err != nil {
		return nil, nil, errors.Join(err, estimator.Close())
	}
	return connection, estimator, nil
}

// answer takes an offer, and returns the answer with all candidates.
func answer(connection *webrtc.PeerConnection, offer string) (string, error) {
	err := connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer})
	if err != nil {
		return "", err
	}
	description, err := connection.CreateAnswer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(connection)
	if err := connection.SetLocalDescription(description); err != nil {
		return "", err
	}
	<-gathered
	return connection.LocalDescription().SDP, nil
}

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
