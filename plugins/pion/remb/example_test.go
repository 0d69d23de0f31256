package remb_test

import (
	"fmt"

	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/remb"
	"weir/pion/shipped"
)

// receivingConnection is a receiver of what a browser sends: one API for one PeerConnection, since pion's buffers
// belong to the API.
func receivingConnection(model *weir.Model) (*webrtc.PeerConnection, error) {
	settings, media, registry := webrtc.SettingEngine{}, webrtc.MediaEngine{}, interceptor.Registry{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	receiver, err := remb.New(remb.Options{Config: weir.Config{Model: model}})
	if err != nil {
		return nil, err
	}
	if err := receiver.Attach(&settings, &media, &registry); err != nil {
		return nil, err
	}
	if err := remb.RegisterDefaultInterceptors(&media, &registry); err != nil {
		return nil, err
	}
	api := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(&media),
		webrtc.WithInterceptorRegistry(&registry))
	return api.NewPeerConnection(webrtc.Configuration{})
}

func ExampleReceiver_Attach() {
	model, err := shipped.Model()
	if err != nil {
		fmt.Println(err)
		return
	}
	connection, err := receivingConnection(model)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(connection.ConnectionState(), connection.Close())
	// Output: new <nil>
}
