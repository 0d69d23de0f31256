package cc_test

import (
	"fmt"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/pacing"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/shipped"
)

// sendingConnection is a sender that tells its encoder each new target rate, and sends at the pacing rate.
func sendingConnection(
	model *weir.Model, encode func(bitrate int),
) (connection *webrtc.PeerConnection, estimator *cc.Estimator, err error) {
	media, registry := webrtc.MediaEngine{}, interceptor.Registry{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		return nil, nil, err
	}
	controller, err := pioncc.NewInterceptor(cc.NewFactory(cc.Options{Config: weir.Config{Model: model}}))
	if err != nil {
		return nil, nil, err
	}
	// 1.1 times the start rate.
	pacer := pacing.NewInterceptor(pacing.InitialRate(330_000))
	controller.OnNewPeerConnection(func(id string, made pioncc.BandwidthEstimator) {
		estimator = made.(*cc.Estimator)
		estimator.OnTargetBitrateChange(func(bitrate int) {
			pacer.SetRate(id, int(estimator.Rates().PacingRateBps))
			encode(bitrate)
		})
	})
	registry.Add(controller)
	// After the controller: packets are counted as they leave the pacer.
	registry.Add(pacer)
	if err := cc.ConfigureTWCCHeaderExtensionSender(&media, &registry); err != nil {
		return nil, nil, err
	}
	api := webrtc.NewAPI(webrtc.WithMediaEngine(&media), webrtc.WithInterceptorRegistry(&registry))
	connection, err = api.NewPeerConnection(webrtc.Configuration{})
	return connection, estimator, err
}

func ExampleNewFactory() {
	model, err := shipped.Model()
	if err != nil {
		fmt.Println(err)
		return
	}
	connection, estimator, err := sendingConnection(model, func(int) {})
	if err != nil {
		fmt.Println(err)
		return
	}
	// When a frame is due; where the window is full it would wait.
	if !estimator.WindowFull() {
		fmt.Println("encode at", estimator.GetTargetBitrate(), "pace at", estimator.Rates().PacingRateBps)
	}
	fmt.Println(connection.ConnectionState(), connection.Close())
	// Output:
	// encode at 300000 pace at 330000
	// new <nil>
}
