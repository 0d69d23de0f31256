// Package remb puts Weir into a pion PeerConnection that receives: it watches what arrives and steers the sender by RTCP
// REMB, as any browser follows it.
//
// One Receiver serves one PeerConnection, hence one webrtc.API each. Audio, video and retransmissions share its
// estimator. A packet's arrival is taken where pion has just decrypted it, not where the application reads it: an
// application that is slow to read would look like a path that is slow.
package remb

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pion/interceptor"
	pion "github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	weir "weir/pion"
)

// Without it delay lowers the rate of a sender with transport-cc below REMB.
var remoteEstimate = sync.OnceValue(func() *rtcp.RawPacket {
	packet := rtcp.RawPacket(weir.RemoteEstimate())
	return &packet
})

// ErrTaken is why a second PeerConnection of the same API is refused.
var ErrTaken = errors.New("remb: a Receiver serves one PeerConnection; make an API and a Receiver for each")

// Options are those of a Receiver.
type Options struct {
	weir.Config
	// TransportFeedback sends transport-wide feedback, for a host whose interceptors send none. Its description must have
	// transport-cc.
	TransportFeedback bool
	// OnEstimate, where it is not nil, is called with each REMB, from the Receiver's own goroutine.
	OnEstimate func(weir.Estimate)
	// OnError, where it is not nil, is called with errors that no caller receives, such as a REMB that was not sent.
	OnError func(error)
}

// Receiver is Weir at one PeerConnection. All methods may be called from any goroutine.
type Receiver struct {
	options Options
	// senderSSRC is the sender's SSRC in REMB.
	senderSSRC uint32
	// nowUs is the estimator's clock.
	nowUs  func() int64
	begun  sync.Once
	closed chan struct{}

	// mutex guards the fields below. It is not held while something is sent or a callback runs.
	mutex     sync.Mutex
	taken     bool
	over      bool
	writer    interceptor.RTCPWriter
	streams   map[uint32]stream
	estimator *weir.Estimator
	feedback  feedback
	// Header and packet being read; as fields they cost no allocation.
	header rtp.Header
	packet weir.Packet
}

// New makes a Receiver. It is closed with its PeerConnection; one that never had any, by Close.
func New(options Options) (*Receiver, error) {
	estimator, err := weir.NewEstimator(options.Config)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	r := &Receiver{
		options:    options,
		senderSSRC: rand.Uint32(),
		nowUs:      func() int64 { return time.Since(start).Microseconds() },
		closed:     make(chan struct{}),
		streams:    make(map[uint32]stream),
		estimator:  estimator,
	}
	if options.TransportFeedback {
		r.feedback.recorder = pion.NewRecorder(r.senderSSRC)
	}
	return r, nil
}

// SetObjective steers the model while the call runs.
func (r *Receiver) SetObjective(objective weir.Objective) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.estimator.SetObjective(objective)
}

// SetConstraints bounds the rate while the call runs. The start rate counts only before the first stream.
func (r *Receiver) SetConstraints(constraints weir.Constraints) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.estimator.SetConstraints(constraints, r.nowUs())
}

// Statistics is for what the host shows of the call.
func (r *Receiver) Statistics() (weir.Statistics, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.estimator.Statistics(r.nowUs())
}

// Close frees the estimator; the PeerConnection's Close does it too. A second call does nothing.
func (r *Receiver) Close() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.over {
		r.over = true
		close(r.closed)
		r.estimator.Close()
	}
	return nil
}

// poll the estimator when its time has come, and send the REMB and the transport-wide feedback that are due; how long to
// wait for the next time.
func (r *Receiver) poll() time.Duration {
	wait, err := r.report()
	feedback, estimate, next, decideErr := r.decide()
	wait, err = min(wait, next), errors.Join(err, decideErr)
	if feedback != nil {
		err = errors.Join(err, r.send(feedback))
		if r.options.OnEstimate != nil {
			r.options.OnEstimate(estimate)
		}
	}
	if err != nil && !errors.Is(err, weir.ErrClosed) && r.options.OnError != nil {
		r.options.OnError(err)
	}
	return wait
}

// decide returns a REMB when one is due, and how long to wait for the next decision.
func (r *Receiver) decide() (*rtcp.ReceiverEstimatedMaximumBitrate, weir.Estimate, time.Duration, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	estimate, due, err := r.estimator.OnTimeout(r.nowUs())
	wait := time.Duration(r.estimator.NextTimeoutUs()-r.nowUs()) * time.Microsecond
	if err != nil || !due {
		return nil, estimate, wait, err
	}
	packet, err := r.estimator.REMB(r.senderSSRC)
	if err != nil {
		return nil, estimate, wait, err
	}
	feedback := new(rtcp.ReceiverEstimatedMaximumBitrate)
	if err := feedback.Unmarshal(packet); err != nil {
		return nil, estimate, wait, err
	}
	return feedback, estimate, wait, nil
}

func (r *Receiver) send(feedback *rtcp.ReceiverEstimatedMaximumBitrate) error {
	packets := []rtcp.Packet{feedback}
	r.mutex.Lock()
	writer, connected := r.writer, len(r.streams) > 0
	for _, s := range r.streams {
		if s.transportCCID != 0 {
			packets = append(packets, remoteEstimate())
			break
		}
	}
	r.mutex.Unlock()
	_, err := writer.Write(packets, interceptor.Attributes{})
	if !connected {
		// There is nobody yet to send it to.
		return nil
	}
	return err
}
