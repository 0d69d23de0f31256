package main

import (
	"errors"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/remb"
)

var (
	vp8  = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000}
	opus = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2}
)

// newPeer makes a PeerConnection for VP8 and Opus, with what `register` adds. Each has an API of its own. `configure` may
// be nil.
func newPeer(
	configure func(*webrtc.SettingEngine),
	register func(*webrtc.SettingEngine, *webrtc.MediaEngine, *interceptor.Registry) error,
) (*webrtc.PeerConnection, error) {
	settings, media, registry := &webrtc.SettingEngine{}, &webrtc.MediaEngine{}, &interceptor.Registry{}
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeQueryOnly)
	settings.SetIncludeLoopbackCandidate(true)
	// A page that is closed sends no goodbye.
	settings.SetICETimeouts(5*time.Second, 10*time.Second, 2*time.Second)
	if configure != nil {
		configure(settings)
	}
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
func newReceivingPeer(
	model *weir.Model, configure func(*webrtc.SettingEngine),
) (*webrtc.PeerConnection, *remb.Receiver, error) {
	config := weir.Config{Model: model, Constraints: weir.Constraints{
		MinRateBps: minRateBps, StartRateBps: startRateBps, MaxRateBps: maxRateBps,
	}}
	receiver, err := remb.New(remb.Options{Config: config})
	if err != nil {
		return nil, nil, err
	}
	connection, err := newPeer(configure,
		func(settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
			return errors.Join(
				receiver.Attach(settings, media, registry),
				webrtc.RegisterDefaultInterceptorsWithOptions(
					media, registry, webrtc.WithNackGeneratorOptions(nack.GeneratorMaxNacksPerPacket(2))))
		})
	if err != nil {
		return nil, nil, errors.Join(err, receiver.Close())
	}
	return connection, receiver, nil
}

// newSendingPeer is for a watcher.
func newSendingPeer(
	model *weir.Model, configure func(*webrtc.SettingEngine),
) (*webrtc.PeerConnection, *cc.Estimator, error) {
	config := weir.Config{Model: model, Constraints: weir.Constraints{StartRateBps: startRateBps, MaxRateBps: maxRateBps}}
	// It sends probe clusters.
	estimator, err := cc.NewEstimator(cc.Options{Config: config, Unpaced: true})
	if err != nil {
		return nil, nil, err
	}
	connection, err := newPeer(configure,
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
