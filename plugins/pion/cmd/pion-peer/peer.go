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

type options struct {
	controller, bindAddress, model, objective string
	minBps, startBps, maxBps                  int64
	statsIntervalMs                           int
}

// peer is one receiving PeerConnection.
type peer struct {
	lines      *lineWriter
	connection *webrtc.PeerConnection
	// nil without Weir.
	receiver *remb.Receiver
	// candidates that came before their description.
	early  []webrtc.ICECandidateInit
	failed chan error
	done   chan struct{}
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

func newPeer(o options, lines *lineWriter) (*peer, error) {
	p := &peer{lines: lines, failed: make(chan error, 1), done: make(chan struct{})}
	media, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	settings, err := settingsFor(o.bindAddress)
	if err != nil {
		return nil, err
	}
	if o.controller == "weir" {
		err = p.attachWeir(o, settings, media, registry)
	} else {
		// The same remedy for NACK as under Weir, so that only the estimator differs.
		err = webrtc.RegisterDefaultInterceptorsWithOptions(media, registry,
			webrtc.WithNackGeneratorOptions(nack.GeneratorMaxNacksPerPacket(2)))
	}
	if err != nil {
		return nil, err
	}
	api := webrtc.NewAPI(
		webrtc.WithSettingEngine(*settings), webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	if p.connection, err = api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return nil, err
	}
	p.connection.OnICECandidate(p.onCandidate)
	p.connection.OnConnectionStateChange(p.onState)
	p.connection.OnTrack(p.onTrack)
	go p.tellStatistics(time.Duration(o.statsIntervalMs) * time.Millisecond)
	return p, nil
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

func (p *peer) attachWeir(
	o options, settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry,
) error {
	model, err := weir.LoadModelFile(o.model)
	if err != nil {
		return err
	}
	defer model.Close()
	config := weir.Config{Model: model, MinRateBps: o.minBps, StartRateBps: o.startBps, MaxRateBps: o.maxBps}
	w := &config.Objective
	if _, err := fmt.Sscanf(o.objective, "%g,%g,%g", &w.Throughput, &w.Latency, &w.Loss); err != nil {
		return fmt.Errorf("--objective %s is not three numbers", o.objective)
	}
	p.receiver, err = remb.New(remb.Options{
		Config: config,
		OnEstimate: func(estimate weir.Estimate) {
			p.lines.write(line{"type": "remb", "bitrate_bps": estimate.TargetRateBps, "reason": estimate.Reason})
		},
		OnError: func(err error) { p.lines.write(line{"type": "error", "message": err.Error(), "fatal": false}) },
	})
	if err != nil {
		return err
	}
	if err := p.receiver.Attach(settings, media, registry); err != nil {
		return err
	}
	return remb.RegisterDefaultInterceptors(media, registry)
}

func (p *peer) execute(c command) error {
	switch c.Type {
	case "offer":
		return p.answer(c.SDP)
	case "candidate":
		candidate := webrtc.ICECandidateInit{Candidate: c.Candidate, SDPMid: c.SDPMid, SDPMLineIndex: c.SDPMLineIndex}
		if p.connection.RemoteDescription() == nil {
			p.early = append(p.early, candidate)
			return nil
		}
		return p.connection.AddICECandidate(candidate)
	case "objective":
		if p.receiver == nil {
			return errors.New("without Weir there is no objective")
		}
		return p.receiver.SetObjective(weir.Objective{Throughput: c.Throughput, Latency: c.Latency, Loss: c.Loss})
	case "stats":
		p.writeStatistics()
		return nil
	}
	return fmt.Errorf("%.100s: pion-peer knows nothing of it", c.Type)
}

func (p *peer) answer(offer string) error {
	err := p.connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer})
	if err != nil {
		return err
	}
	answer, err := p.connection.CreateAnswer(nil)
	if err != nil {
		return err
	}
	if err := p.connection.SetLocalDescription(answer); err != nil {
		return err
	}
	sdp := answer.SDP
	if p.receiver != nil {
		sdp = p.receiver.FollowREMBAtOnce(sdp)
	}
	p.lines.write(line{"type": "answer", "sdp": sdp})
	for _, candidate := range p.early {
		err = errors.Join(err, p.connection.AddICECandidate(candidate))
	}
	p.early = nil
	return err
}

func (p *peer) onCandidate(candidate *webrtc.ICECandidate) {
	if candidate == nil {
		return
	}
	c := candidate.ToJSON()
	p.lines.write(line{"type": "candidate", "candidate": c.Candidate, "sdpMid": c.SDPMid, "sdpMLineIndex": c.SDPMLineIndex})
}

func (p *peer) onState(state webrtc.PeerConnectionState) {
	p.lines.write(line{"type": "state", "state": state.String()})
	if state == webrtc.PeerConnectionStateFailed {
		p.failed <- errors.New("the connection failed")
	}
}

// onTrack reads a track, which is what has lost packets asked for again.
func (p *peer) onTrack(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
	buffer := make([]byte, 1500)
	for {
		if _, _, err := track.Read(buffer); err != nil {
			return
		}
	}
}

func (p *peer) tellStatistics(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-ticker.C:
			p.writeStatistics()
		}
	}
}

func (p *peer) writeStatistics() {
	report := []any{}
	for _, entry := range p.connection.GetStats() {
		report = append(report, entry)
	}
	if p.receiver != nil {
		if statistics, err := p.receiver.Statistics(); err == nil {
			report = append(report, line{"type": "weir", "statistics": statistics})
		}
	}
	p.lines.write(line{"type": "stats", "report": report})
}

func (p *peer) close() {
	close(p.done)
	_ = p.connection.Close()
}
