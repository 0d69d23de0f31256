// Package cc is Weir behind pion's cc.BandwidthEstimator, for those who send: from transport-wide feedback, as every
// browser gives it, or from that of RFC 8888. It stands where pion's own gcc stands, in LiveKit too.
//
//	controller, err := pioncc.NewInterceptor(cc.NewFactory(cc.Options{Config: weir.Config{Model: model}}))
//	registry.Add(controller) // before the next line
//	err = cc.ConfigureTWCCHeaderExtensionSender(media, registry)
//
// Like gcc, it paces video. The program in plugins/pion/example is complete.
package cc

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	weir "weir/pion"
	"weir/pion/internal/report"
	"weir/pion/twcc"
)

const (
	transportCCURI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	// ipAndUDPBytes is what a packet has beside RTP on an IPv4 path; SRTP's tag is 10 bytes more.
	ipAndUDPBytes = 28
	srtpTagBytes  = 10
	// congestedIntervalUs: so long after the latest packet one more frame may leave into a full window, lest lost feedback
	// keep it full; libwebrtc's.
	congestedIntervalUs = 500_000
)

// Options are those of an Estimator.
type Options struct {
	weir.Config
	// PacingFactor is the pacing rate divided by the target rate; 0: 1.1.
	PacingFactor float64
	// Unpaced sends each packet at once, for a host that paces itself, or that sends probe clusters. Otherwise video
	// leaves at the pacing rate, as with pion's gcc.
	Unpaced bool
}

// Estimator is a cc.BandwidthEstimator. All methods may be called from any goroutine; callbacks come from the one that
// brought feedback, or from the Estimator's own, with no lock held but that of callbacks.
type Estimator struct {
	// nowUs is the estimator's clock.
	nowUs  func() int64
	closed chan struct{}
	// pacer is nil where the host paces.
	pacer atomic.Pointer[pacer]

	// mutex guards the fields below. It is not held while something is sent or a callback runs.
	mutex    sync.Mutex
	over     bool
	sendSide *weir.SendSide
	rates    weir.Rates
	history  history
	// next is the transport-wide sequence number of the next packet.
	next     uint16
	sentUs   int64
	probe    probe
	messages twcc.Reader
	// transportWide feedback has come, else perStream: that of RFC 8888.
	transportWide, perStream bool

	// telling keeps the callback's and the pacer's news in order.
	telling  sync.Mutex
	onChange func(bitrate int)
	told     int
}

var _ pioncc.BandwidthEstimator = (*Estimator)(nil)

// NewFactory is what pion's cc.NewInterceptor takes: an Estimator for each PeerConnection.
func NewFactory(options Options) pioncc.BandwidthEstimatorFactory {
	return func() (pioncc.BandwidthEstimator, error) { return NewEstimator(options) }
}

// NewEstimator makes one. It is closed with its PeerConnection; one that never had any, by Close.
func NewEstimator(options Options) (*Estimator, error) {
	start := time.Now()
	e, err := newWithClock(options, func() int64 { return time.Since(start).Microseconds() })
	if err != nil {
		return nil, err
	}
	if !options.Unpaced {
		if _, err = e.pace(); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	go weir.Run(e.closed, e.poll)
	return e, nil
}

// newWithClock makes one that has no goroutine of its own, and no pacer.
func newWithClock(options Options, nowUs func() int64) (*Estimator, error) {
	sendSide, err := weir.NewSendSide(options.Config, options.PacingFactor)
	if err != nil {
		return nil, err
	}
	e := &Estimator{nowUs: nowUs, closed: make(chan struct{}), sendSide: sendSide}
	if e.rates, err = sendSide.Rates(); err != nil {
		sendSide.Close()
		return nil, err
	}
	e.told = int(e.rates.TargetRateBps)
	return e, nil
}

// AddStream watches a stream. Streams without transport-wide sequence numbers count while feedback is that of RFC 8888;
// else they pass as they are.
//
// Numbers are given anew here, under the mutex: those of pion's header interceptor may change places on their way when
// several goroutines write, and the estimator wants them in order.
func (e *Estimator) AddStream(info *interceptor.StreamInfo, writer interceptor.RTPWriter) interceptor.RTPWriter {
	return e.pacer.Load().add(info, e.watch(info, writer, e.number))
}

// watch returns a writer that reports each packet with the number that `numbered` returns.
func (e *Estimator) watch(
	info *interceptor.StreamInfo, writer interceptor.RTPWriter, numbered func(extension []byte) (uint16, bool),
) interceptor.RTPWriter {
	id, ofStream := extensionOf(info), kindOf(info)
	return interceptor.RTPWriterFunc(
		func(header *rtp.Header, payload []byte, attributes interceptor.Attributes) (int, error) {
			kind, padding := ofStream, 0
			if header.Padding {
				padding = int(header.PaddingSize)
			}
			if padding > 0 && len(payload) == 0 {
				kind = weir.Probe
			}
			size := header.MarshalSize() + len(payload) + padding + srtpTagBytes + ipAndUDPBytes
			e.onSent(header, numbered, numberIn(header, id), size, kind)
			return writer.Write(header, payload, attributes)
		})
}

// onSent reports a packet that leaves.
func (e *Estimator) onSent(
	header *rtp.Header, numbered func([]byte) (uint16, bool), extension []byte, size int, kind weir.Kind,
) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	number, counts := numbered(extension)
	if !counts {
		return
	}
	e.sentUs = e.nowUs()
	// Nothing that a host sends is an error.
	_ = e.sendSide.OnSentPacket(e.sentUs, number, size, kind, e.probe.take(size))
	e.history.add(number, header.SSRC, header.SequenceNumber, size)
}

// number gives the next number to a packet, in the two bytes of its extension if it has one. It needs the mutex.
func (e *Estimator) number(extension []byte) (uint16, bool) {
	if len(extension) < 2 && !e.perStream {
		return 0, false
	}
	number := e.next
	e.next++
	if len(extension) >= 2 {
		binary.BigEndian.PutUint16(extension, number)
	}
	return number, true
}

// WriteRTCP takes RTCP that has come: transport-wide feedback, that of RFC 8888 from a peer that sends no other, and
// round-trip times from receiver reports.
func (e *Estimator) WriteRTCP(packets []rtcp.Packet, _ interceptor.Attributes) error {
	err := e.take(packets)
	e.tell()
	return err
}

func (e *Estimator) take(packets []rtcp.Packet) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.over {
		return nil
	}
	for _, packet := range packets {
		var err error
		switch packet := packet.(type) {
		case *rtcp.TransportLayerCC:
			e.transportWide, e.perStream = true, false
			err = e.takeFeedback(e.messages.Read(packet))
		case *rtcp.CCFeedbackReport:
			// Its clock is another one.
			if !e.transportWide {
				e.perStream = true
				err = e.takeFeedback(e.history.read(packet))
			}
		case *rtcp.ReceiverReport:
			err = e.takeReports(packet.Reports)
		case *rtcp.SenderReport:
			err = e.takeReports(packet.Reports)
		}
		if err != nil {
			return err
		}
	}
	return e.refresh()
}

func (e *Estimator) takeFeedback(feedback []weir.PacketFeedback) error {
	if len(feedback) == 0 {
		return nil
	}
	for _, packet := range feedback {
		if packet.Fate != weir.FateUnknown {
			e.history.answer(packet.SequenceNumber)
		}
	}
	return e.sendSide.OnTransportFeedback(feedback, e.nowUs())
}

func (e *Estimator) takeReports(reports []rtcp.ReceptionReport) error {
	for _, r := range reports {
		if roundTrip, ok := report.RoundTripTime(r, time.Now()); ok {
			if err := e.sendSide.OnRoundTripTime(roundTrip.Microseconds(), e.nowUs()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Estimator) refresh() error {
	rates, err := e.sendSide.Rates()
	if err == nil {
		e.rates = rates
	}
	return err
}

// Close frees the estimator; the PeerConnection's Close does it too. Afterwards the pacer drops packets, and streams
// without it pass as they are.
func (e *Estimator) Close() error {
	e.mutex.Lock()
	again := e.over
	if !again {
		e.over = true
		close(e.closed)
		e.sendSide.Close()
	}
	e.mutex.Unlock()
	if again {
		return nil
	}
	return e.pacer.Load().close()
}
