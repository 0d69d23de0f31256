package main

import (
	"errors"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/remb"
)

// receiver is the receiving end: Weir behind RTCP REMB, or transport-cc alone.
type receiver struct {
	*peer
	// nil without Weir.
	weir *remb.Receiver
}

func newReceiver(o options, lines *lineWriter) (*receiver, error) {
	r := &receiver{peer: newPeer(lines)}
	media, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	settings, err := settingsFor(o.bindAddress)
	if err != nil {
		return nil, err
	}
	if o.controller == "weir" {
		err = r.attachWeir(o, settings, media, registry)
	} else {
		// The same remedy for NACK as under Weir, so that only the estimator differs.
		err = webrtc.RegisterDefaultInterceptorsWithOptions(media, registry,
			webrtc.WithNackGeneratorOptions(nack.GeneratorMaxNacksPerPacket(2)))
	}
	if err != nil {
		return nil, err
	}
	if err := r.connect(o, settings, media, registry, r.statistics); err != nil {
		return nil, err
	}
	r.connection.OnTrack(r.onTrack)
	return r, nil
}

func (r *receiver) attachWeir(
	o options, settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry,
) error {
	config, err := weirConfig(o)
	if err != nil {
		return err
	}
	defer config.Model.Close()
	r.weir, err = remb.New(remb.Options{
		Config: config,
		OnEstimate: func(estimate weir.Estimate) {
			r.lines.write(line{"type": "remb", "bitrate_bps": estimate.TargetRateBps, "reason": estimate.Reason})
		},
		OnError: func(err error) { r.lines.write(line{"type": "error", "message": err.Error(), "fatal": false}) },
	})
	if err != nil {
		return err
	}
	if err := r.weir.Attach(settings, media, registry); err != nil {
		return err
	}
	return remb.RegisterDefaultInterceptors(media, registry)
}

func (r *receiver) execute(c command) error {
	switch c.Type {
	case "offer":
		return r.answer(c.SDP)
	case "objective":
		if r.weir == nil {
			return errors.New("without Weir there is no objective")
		}
		return r.weir.SetObjective(c.objective())
	}
	return r.peer.execute(c)
}

func (r *receiver) answer(offer string) error {
	err := r.connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer})
	if err != nil {
		return err
	}
	answer, err := r.connection.CreateAnswer(nil)
	if err != nil {
		return err
	}
	if err := r.connection.SetLocalDescription(answer); err != nil {
		return err
	}
	sdp := answer.SDP
	if r.weir != nil {
		sdp = remb.FollowREMBAtOnce(sdp)
	}
	r.lines.write(line{"type": "answer", "sdp": sdp})
	return r.addEarlyCandidates()
}

// onTrack reads a track, which is what has lost packets asked for again.
func (r *receiver) onTrack(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
	buffer := make([]byte, 1500)
	for {
		if _, _, err := track.Read(buffer); err != nil {
			return
		}
	}
}

func (r *receiver) statistics() []line {
	if r.weir == nil {
		return nil
	}
	statistics, err := r.weir.Statistics()
	if err != nil {
		return nil
	}
	return []line{{"type": "weir", "statistics": statistics}}
}
