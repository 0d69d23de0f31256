package main

import (
	"errors"
	"log"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/remb"
)

// newReceiver returns a PeerConnection that receives, under Weir, and its estimator. Each needs a webrtc.API of its own,
// since pion's buffers belong to the API.
func newReceiver(
	model *weir.Model, settings webrtc.SettingEngine,
) (*webrtc.PeerConnection, *remb.Receiver, error) {
	media, registry := webrtc.MediaEngine{}, interceptor.Registry{}
	receiver, err := remb.New(remb.Options{
		Config:     weir.Config{Model: model, Constraints: weir.Constraints{MaxRateBps: 8_000_000}},
		OnEstimate: func(estimate weir.Estimate) { log.Println("REMB", estimate.TargetRateBps, estimate.Reason) },
		OnError:    func(err error) { log.Println("Weir:", err) },
	})
	if err != nil {
		return nil, nil, err
	}
	err = errors.Join(
		media.RegisterDefaultCodecs(),
		receiver.Attach(&settings, &media, &registry), // after the codecs, before other interceptors
		webrtc.RegisterDefaultInterceptorsWithOptions( // pion's, with two requests for a lost packet
			&media, &registry, webrtc.WithNackGeneratorOptions(nack.GeneratorMaxNacksPerPacket(2))),
	)
	if err != nil {
		return nil, nil, err
	}
	api := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(&media),
		webrtc.WithInterceptorRegistry(&registry))
	connection, err := api.NewPeerConnection(webrtc.Configuration{})
	return connection, receiver, err // for SetObjective, SetConstraints, Statistics
}

// answer returns the answer to send to the browser that made the offer.
func answer(receiver *webrtc.PeerConnection, offer webrtc.SessionDescription) (webrtc.SessionDescription, error) {
	if err := receiver.SetRemoteDescription(offer); err != nil {
		return webrtc.SessionDescription{}, err
	}
	answer, err := receiver.CreateAnswer(nil)
	if err != nil {
		return webrtc.SessionDescription{}, err
	}
	gathered := webrtc.GatheringCompletePromise(receiver)
	if err := receiver.SetLocalDescription(answer); err != nil {
		return webrtc.SessionDescription{}, err
	}
	<-gathered
	answer = *receiver.LocalDescription()
	answer.SDP = remb.FollowREMBAtOnce(answer.SDP) // of the copy to send: SetLocalDescription refuses a changed answer
	return answer, nil
}
