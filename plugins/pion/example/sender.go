package main

import (
	"errors"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/playout"
)

// newSender returns a PeerConnection that sends, under Weir, and its estimator, which calls encode with each new target
// rate, in bit/s.
func newSender(
	model *weir.Model, settings webrtc.SettingEngine, encode func(bitrate int),
) (*webrtc.PeerConnection, *cc.Estimator, error) {
	media, registry := webrtc.MediaEngine{}, interceptor.Registry{}
	controller, err := pioncc.NewInterceptor(cc.NewFactory(cc.Options{Config: weir.Config{Model: model}}))
	if err != nil {
		return nil, nil, err
	}
	var estimator *cc.Estimator // for Rates, WindowFull, SetObjective, SetDesiredRate
	controller.OnNewPeerConnection(func(_ string, created pioncc.BandwidthEstimator) {
		estimator = created.(*cc.Estimator)
		estimator.OnTargetBitrateChange(encode)
	})
	registry.Add(controller) // before the next lines
	err = errors.Join(
		media.RegisterDefaultCodecs(),
		playout.Configure(&media, &registry),                     // optional: limits the playout delay of video
		cc.ConfigureTWCCHeaderExtensionSender(&media, &registry), // before what retransmits
		webrtc.RegisterDefaultInterceptors(&media, &registry),
	)
	if err != nil {
		return nil, nil, err
	}
	api := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(&media),
		webrtc.WithInterceptorRegistry(&registry))
	connection, err := api.NewPeerConnection(webrtc.Configuration{}) // calls OnNewPeerConnection's function
	return connection, estimator, err
}

// readFeedback hands feedback to the estimator until the connection is closed: pion's interceptors see only RTCP that
// the application reads.
func readFeedback(sender *webrtc.RTPSender) {
	buffer := make([]byte, 1500)
	for {
		if _, _, err := sender.Read(buffer); err != nil {
			return
		}
	}
}
