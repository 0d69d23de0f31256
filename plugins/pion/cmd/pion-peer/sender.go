package main

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
	"golang.org/x/sys/unix"

	"weir/pion/cc"
)

// sender is the sending end: a video whose bitrate follows a controller.
type sender struct {
	*peer
	controller *controller
	video      *video
	begin      sync.Once
	toldBps    int
}

func newSender(o options, lines *lineWriter) (*sender, error) {
	s := &sender{peer: newPeer(lines)}
	var err error
	if s.video, err = newVideo(o, s.pictureRate); err != nil {
		return nil, err
	}
	if err := s.connectVideo(o); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *sender) connectVideo(o options) error {
	var err error
	if s.controller, err = newController(o); err != nil {
		return err
	}
	media, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
	// Retransmissions go into the stream itself: pion's gcc drops those on a stream of their own, whatever its pacer.
	codec := webrtc.RTPCodecParameters{RTPCodecCapability: s.video.track.Codec(), PayloadType: 96}
	if err := media.RegisterCodec(codec, webrtc.RTPCodecTypeVideo); err != nil {
		return err
	}
	media.RegisterFeedback(webrtc.RTCPFeedback{Type: "ccm", Parameter: "fir"}, webrtc.RTPCodecTypeVideo)
	s.controller.register(registry)
	registry.Add(&reportWatch{tell: s.tellReport})
	err = errors.Join(
		cc.ConfigureTWCCHeaderExtensionSender(media, registry), webrtc.RegisterDefaultInterceptors(media, registry))
	if err != nil {
		return err
	}
	settings, err := settingsFor(o.bindAddress)
	if err != nil {
		return err
	}
	if err := s.connect(o, settings, media, registry, s.statistics); err != nil {
		return err
	}
	s.connection.OnConnectionStateChange(s.onState)
	transceiver, err := s.connection.AddTransceiverFromTrack(
		s.video.track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly})
	if err != nil {
		return err
	}
	go s.readRTCP(transceiver.Sender())
	return nil
}

func (s *sender) execute(c command) error {
	switch c.Type {
	case "start":
		return s.offer()
	case "answer":
		err := s.connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: c.SDP})
		if err != nil {
			return err
		}
		return s.addEarlyCandidates()
	case "objective":
		estimator, ok := s.controller.estimator.(*cc.Estimator)
		if !ok {
			return errors.New("without Weir there is no objective")
		}
		return estimator.SetObjective(c.objective())
	}
	return s.peer.execute(c)
}

func (s *sender) offer() error {
	offer, err := s.connection.CreateOffer(nil)
	if err != nil {
		return err
	}
	// Candidates come with the local description, and may be sent only after the offer.
	s.lines.write(line{"type": "offer", "sdp": offer.SDP})
	return s.connection.SetLocalDescription(offer)
}

func (s *sender) onState(state webrtc.PeerConnectionState) {
	s.peer.onState(state)
	if state == webrtc.PeerConnectionStateConnected {
		s.begin.Do(func() { go s.video.run(s.done) })
	}
}

// pictureRate sets the pacer to the controller's rate, reports a rate that changed, and returns the share of the
// pictures.
func (s *sender) pictureRate() int {
	rates := s.controller.rates()
	if rates.target != s.toldBps {
		s.toldBps = rates.target
		s.lines.write(line{
			"type": "estimate", "target_rate_bps": rates.target, "reason": rates.reason, "controller": s.controller.name,
			"in_charge": true,
		})
	}
	return s.controller.pictureRate(rates.target, s.video.clip.FramesPerSecond)
}

// readRTCP passes feedback to the controller, and makes the key frames that are requested.
func (s *sender) readRTCP(from *webrtc.RTPSender) {
	for {
		packets, _, err := from.ReadRTCP()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
			return
		}
		// After a message that cannot be read the next may be right.
		for _, packet := range packets {
			switch packet := packet.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				s.video.keyFrame.Store(true)
			case *rtcp.ReceiverReport:
				for _, report := range packet.Reports {
					if roundTrip, ok := cc.RoundTripTime(report, time.Now()); ok {
						s.controller.resends.setRoundTrip(roundTrip)
					}
				}
			}
		}
	}
}

// tellReport writes the time of a sender report's RTP timestamp on this machine's monotonic clock.
func (s *sender) tellReport(report *rtcp.SenderReport) {
	var now unix.Timespec
	if report.PacketCount == 0 || unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return
	}
	s.lines.write(line{
		"type": "sender_report", "ssrc": report.SSRC, "rtp_timestamp": report.RTPTime,
		"capture_time_us": now.Nano()/1000 - s.video.capturedAgo(report.RTPTime).Microseconds(),
	})
}

func (s *sender) statistics() []line {
	return append(s.video.statistics(), line{"type": "controller", "statistics": s.controller.estimator.GetStats()})
}

// reportWatch is an interceptor that tells of each sender report as it leaves; registered before the one that makes
// them.
type reportWatch struct {
	interceptor.NoOp
	tell func(report *rtcp.SenderReport)
}

// NewInterceptor makes it its own factory, for the one connection.
func (w *reportWatch) NewInterceptor(string) (interceptor.Interceptor, error) { return w, nil }

// BindRTCPWriter is interceptor.Interceptor's.
func (w *reportWatch) BindRTCPWriter(writer interceptor.RTCPWriter) interceptor.RTCPWriter {
	return interceptor.RTCPWriterFunc(func(packets []rtcp.Packet, attributes interceptor.Attributes) (int, error) {
		for _, packet := range packets {
			if report, ok := packet.(*rtcp.SenderReport); ok {
				w.tell(report)
			}
		}
		return writer.Write(packets, attributes)
	})
}
