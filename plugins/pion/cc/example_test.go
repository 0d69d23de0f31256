package cc_test

import (
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/prometheus/client_golang/prometheus"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/observe"
)

func newConnections() (*observe.Connections, error) {
	connections, err := observe.New(observe.Options{
		Host: "sfu", Other: "gcc", Folder: "/var/log/weir", Registerer: prometheus.DefaultRegisterer,
	})
	return connections, err
}

func newInterceptor(
	model *weir.Model, connections *observe.Connections, participantID string,
) (*pioncc.InterceptorFactory, error) {
	controller, err := pioncc.NewInterceptor(func() (pioncc.BandwidthEstimator, error) {
		other, err := gcc.NewSendSideBWE(gcc.SendSideBWEInitialBitrate(300_000)) // as before
		if err != nil {
			return nil, err
		}
		options := cc.Options{Config: weir.Config{Model: model}}
		return cc.NewObserver(options, other, connections.Open(participantID))
	})
	return controller, err
}

// The program compiles; a call needs a peer.
func ExampleNewObserver() {
	_, _ = newConnections, newInterceptor
}
