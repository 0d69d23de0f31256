package main

import (
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/remb"
)

// receiver is a PeerConnection with Weir behind RTCP REMB and transport-cc, or with transport-cc alone.
type receiver struct {
	lines      *lineWriter
	connection *webrtc.PeerConnection
	// nil without Weir.
	weir *remb.Receiver
	// candidates that came before the offer.
	early  []webrtc.ICECandidateInit
	failed chan error
	done   chan struct{}
}

func newReceiver(o options, lines *lineWriter) (*receiver, error) {
	r := &receiver{lines: lines, failed: make(chan error, 1), done: make(chan struct{})}
	media, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	settings, err := settingsFor(o.bindAddress)
	if err != nil {
		return nil, err
	}
	if o.controller == "weir" {
		if err := r.attachWeir(o, settings, media, registry); err != nil {
			return nil, err
		}
	}
	// Equal under both controllers, so that only the estimator differs.
	err = webrtc.RegisterDefaultInterceptorsWithOptions(
		media, registry, webrtc.WithNackGeneratorOptions(nack.GeneratorMaxNacksPerPacket(2)))
	if err != nil {
		return nil, err
	}
	api := webrtc.NewAPI(
		webrtc.WithSettingEngine(*settings), webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	if r.connection, err = api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return nil, err
	}
	r.connection.OnICECandidate(r.onCandidate)
	r.connection.OnConnectionStateChange(r.onState)
	r.connection.OnTrack(onTrack)
	go r.tellStatistics(time.Duration(o.statsIntervalMs) * time.Millisecond)
	return r, nil
}

// settingsFor is ICE over one address, and a DTLS server, which may send before the other end does.
func settingsFor(address string) (*webrtc.SettingEngine, error) {
	settings := &webrtc.SettingEngine{}
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	settings.SetIncludeLoopbackCandidate(true)
	if address != "" {
		ip := net.ParseIP(address)
		if ip == nil {
			return nil, fmt.Errorf("--bind-address %s is no address", address)
		}
		settings.SetIPFilter(ip.Equal)
	}
	return settings, settings.SetAnsweringDTLSRole(webrtc.DTLSRoleServer)
}

func (r *receiver) attachWeir(
	o options, settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry,
) error {
	constraints := weir.Constraints{MinRateBps: o.minBps, StartRateBps: o.startBps, MaxRateBps: o.maxBps}
	config := weir.Config{Constraints: constraints}
	w := &config.Objective
	if _, err := fmt.Sscanf(o.objective, "%g,%g,%g", &w.Throughput, &w.Latency, &w.Loss); err != nil {
		return fmt.Errorf("--objective %s is not three numbers", o.objective)
	}
	var err error
	if config.Model, err = weir.LoadModelFile(o.model); err != nil {
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
	return r.weir.Attach(settings, media, registry)
}

func versions() line {
	found := line{"weir": weir.Version()}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "github.com/pion/webrtc/v4" || module.Path == "github.com/pion/interceptor" {
				found[module.Path] = module.Version
			}
		}
	}
	return found
}

func (r *receiver) execute(c command) error {
	switch c.Type {
	case "offer":
		return r.answer(c.SDP)
	case "candidate":
		if r.connection.RemoteDescription() == nil {
			r.early = append(r.early, c.ICECandidateInit)
			return nil
		}
		return r.connection.AddICECandidate(c.ICECandidateInit)
	case "objective":
		if r.weir == nil {
			return errors.New("without Weir there is no objective")
		}
		return r.weir.SetObjective(c.Objective)
	case "stats":
		r.writeStatistics()
		return nil
	}
	return fmt.Errorf("%.100s: pion-peer has no such line", c.Type)
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
	for _, candidate := range r.early {
		err = errors.Join(err, r.connection.AddICECandidate(candidate))
	}
	r.early = nil
	return err
}

func (r *receiver) onCandidate(candidate *webrtc.ICECandidate) {
	if candidate == nil {
		return
	}
	c := candidate.ToJSON()
	r.lines.write(line{
		"type": "candidate", "candidate": c.Candidate, "sdpMid": c.SDPMid, "sdpMLineIndex": c.SDPMLineIndex,
	})
}

// onState ends the call with its connection.
func (r *receiver) onState(state webrtc.PeerConnectionState) {
	r.lines.write(line{"type": "state", "state": state.String()})
	if state == webrtc.PeerConnectionStateFailed {
		select {
		case r.failed <- errors.New("the connection failed"):
		default:
			// It has failed before.
		}
	}
}

// onTrack reads a track, which is what has lost packets asked for again.
func onTrack(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
	buffer := make([]byte, 1500)
	for {
		if _, _, err := track.Read(buffer); err != nil {
			return
		}
	}
}

func (r *receiver) tellStatistics(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-ticker.C:
			r.writeStatistics()
		}
	}
}

func (r *receiver) writeStatistics() {
	report := []any{}
	for _, entry := range r.connection.GetStats() {
		report = append(report, entry)
	}
	if r.weir != nil {
		if statistics, err := r.weir.Statistics(); err == nil {
			report = append(report, line{"type": "weir", "statistics": statistics})
		}
	}
	r.lines.write(line{"type": "stats", "report": report})
}

func (r *receiver) close() {
	close(r.done)
	_ = r.connection.Close()
}
