package main

import (
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
)

type options struct {
	role, controller, bindAddress, model, objective, video string
	minBps, startBps, maxBps                               int64
	statsIntervalMs                                        int
}

// peer is what both ends of a call have: a PeerConnection, and its lines.
type peer struct {
	lines      *lineWriter
	connection *webrtc.PeerConnection
	// candidates that came before their description.
	early  []webrtc.ICECandidateInit
	failed chan error
	done   chan struct{}
	// Those that this end has beside pion's.
	statistics func() []line
}

func newPeer(lines *lineWriter) *peer {
	return &peer{lines: lines, failed: make(chan error, 1), done: make(chan struct{})}
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

// weirConfig is that of both ends' estimators; its model is for the caller to close.
func weirConfig(o options) (weir.Config, error) {
	config := weir.Config{MinRateBps: o.minBps, StartRateBps: o.startBps, MaxRateBps: o.maxBps}
	w := &config.Objective
	if _, err := fmt.Sscanf(o.objective, "%g,%g,%g", &w.Throughput, &w.Latency, &w.Loss); err != nil {
		return config, fmt.Errorf("--objective %s is not three numbers", o.objective)
	}
	var err error
	config.Model, err = weir.LoadModelFile(o.model)
	return config, err
}

// connect makes the connection.
func (p *peer) connect(
	o options, settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry,
	statistics func() []line,
) error {
	api := webrtc.NewAPI(
		webrtc.WithSettingEngine(*settings), webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	var err error
	if p.connection, err = api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return err
	}
	p.connection.OnICECandidate(p.onCandidate)
	p.connection.OnConnectionStateChange(p.onState)
	p.statistics = statistics
	go p.tellStatistics(time.Duration(o.statsIntervalMs) * time.Millisecond)
	return nil
}

// execute what both ends know.
func (p *peer) execute(c command) error {
	switch c.Type {
	case "candidate":
		candidate := webrtc.ICECandidateInit{Candidate: c.Candidate, SDPMid: c.SDPMid, SDPMLineIndex: c.SDPMLineIndex}
		if p.connection.RemoteDescription() == nil {
			p.early = append(p.early, candidate)
			return nil
		}
		return p.connection.AddICECandidate(candidate)
	case "stats":
		p.writeStatistics()
		return nil
	}
	return fmt.Errorf("%.100s: this end of pion-peer has no such line", c.Type)
}

// addEarlyCandidates adds those that came before the other end's description.
func (p *peer) addEarlyCandidates() error {
	var err error
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
	p.lines.write(line{
		"type": "candidate", "candidate": c.Candidate, "sdpMid": c.SDPMid, "sdpMLineIndex": c.SDPMLineIndex,
	})
}

func (p *peer) onState(state webrtc.PeerConnectionState) {
	p.lines.write(line{"type": "state", "state": state.String()})
	if state == webrtc.PeerConnectionStateFailed {
		p.fail(errors.New("the connection failed"))
	}
}

// fail ends the call.
func (p *peer) fail(err error) {
	select {
	case p.failed <- err:
	default:
		// It has failed before.
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
	for _, entry := range p.statistics() {
		report = append(report, entry)
	}
	p.lines.write(line{"type": "stats", "report": report})
}

func (p *peer) failure() <-chan error { return p.failed }

func (p *peer) close() {
	close(p.done)
	_ = p.connection.Close()
}
