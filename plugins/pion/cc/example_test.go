package cc_test

import (
	"fmt"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/internal/shipped"
)

// sendingConnection is a sender that tells its encoder each new target rate.
func sendingConnection(model *weir.Model, encode func(bitrate int)) (*webrtc.PeerConnection, error) {
	media, registry := webrtc.MediaEngine{}, interceptor.Registry{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	controller, err := pioncc.NewInterceptor(cc.NewFactory(cc.Options{Config: weir.Config{Model: model}}))
	if err != nil {
		return nil, err
	}
	controller.OnNewPeerConnection(func(_ string, estimator pioncc.BandwidthEstimator) {
		estimator.OnTargetBitrateChange(encode)
	})
	registry.Add(controller)
	if err := cc.ConfigureTWCCHeaderExtensionSender(&media, &registry); err != nil {
		return nil, err
	}
	api := webrtc.NewAPI(webrtc.WithMediaEngine(&media), webrtc.WithInterceptorRegistry(&registry))
	return api.NewPeerConnection(webrtc.Configuration{})
}

func ExampleNewFactory() {
	model, err := shipped.Model()
	if err != nil {
		fmt.Println(err)
		return
	}
	connection, err := sendingConnection(model, func(int) {})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(connection.ConnectionState(), connection.Close())
	// Output: new <nil>
}
