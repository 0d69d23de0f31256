package cc

import (
	"encoding/binary"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	weir "weir/pion"
)

// Observer is a cc.BandwidthEstimator that runs an Estimator beside another one, such as pion's gcc. While the other is
// in charge, Weir only computes: packets leave through the other, and rates are the other's. While Weir is in charge,
// the other receives neither packets nor feedback, and later continues from its latest rate. The connection decides who
// is in charge, and gets an observation each second.
type Observer struct {
	weir       *Estimator
	other      pioncc.BandwidthEstimator
	connection weir.Observed
	closed     chan struct{}
	close      sync.Once
	// pacer is made when Weir is first in charge, since it needs much memory.
	pacer func() (*pacer, error)

	// telling keeps the callback's news in order.
	telling  sync.Mutex
	onChange func(bitrate int)
	watcher  weir.Watcher
}

var _ pioncc.BandwidthEstimator = (*Observer)(nil)

// NewObserver makes one, which closes the other estimator and the connection with its PeerConnection.
func NewObserver(options Options, other pioncc.BandwidthEstimator, connection weir.Observed) (*Observer, error) {
	paced := !options.Unpaced
	options.Unpaced = true
	estimator, err := NewEstimator(options)
	if err != nil {
		return nil, err
	}
	o := newObserver(estimator, paced, other, connection)
	go weir.Run(o.closed, o.poll)
	return o, nil
}

// newObserver makes one that has no goroutine of its own.
func newObserver(
	estimator *Estimator, paced bool, other pioncc.BandwidthEstimator, connection weir.Observed,
) *Observer {
	o := &Observer{
		weir: estimator, other: other, connection: connection, closed: make(chan struct{}),
	}
	o.watcher = weir.Watcher{
		Connection: connection, LastSecond: estimator.lastSecond, OtherRateBps: o.otherRateBps,
		Switched: func(toWeir bool) { o.tell(toWeir, o.GetTargetBitrate()) },
	}
	o.watcher.Start()
	estimator.mutex.Lock()
	estimator.sendSide.Recorder, _ = connection.(weir.PacketRecorder)
	estimator.mutex.Unlock()
	o.pacer = sync.OnceValues(func() (*pacer, error) {
		if !paced {
			return nil, nil
		}
		return estimator.pace()
	})
	estimator.OnTargetBitrateChange(func(bitrate int) { o.tell(true, bitrate) })
	other.OnTargetBitrateChange(func(bitrate int) { o.tell(false, bitrate) })
	return o
}

// Weir is the Estimator, for SetConstraints, SetObjective, and what a host calls while Weir is in charge.
func (o *Observer) Weir() *Estimator { return o.weir }

// AddStream watches a stream.
//
// Packets that leave through the other estimator get their numbers before it, since it remembers packets by them; those
// through Weir's pacer when they leave it. Both are of one sequence.
func (o *Observer) AddStream(info *interceptor.StreamInfo, writer interceptor.RTPWriter) interceptor.RTPWriter {
	id := extensionOf(info)
	throughOther := o.other.AddStream(info, o.weir.watch(info, writer, o.weir.keepNumber))
	throughWeir := sync.OnceValue(func() interceptor.RTPWriter {
		pacer, err := o.pacer()
		if err != nil {
			return nil
		}
		return pacer.add(info, o.weir.watch(info, writer, o.weir.number))
	})
	return interceptor.RTPWriterFunc(
		func(header *rtp.Header, payload []byte, attributes interceptor.Attributes) (int, error) {
			if o.connection.InCharge() {
				if writer := throughWeir(); writer != nil {
					return writer.Write(header, payload, attributes)
				}
			}
			o.weir.giveNumber(numberIn(header, id))
			return throughOther.Write(header, payload, attributes)
		})
}

// WriteRTCP takes RTCP that has come. Errors are those of who is in charge.
func (o *Observer) WriteRTCP(packets []rtcp.Packet, attributes interceptor.Attributes) error {
	err := o.weir.WriteRTCP(packets, attributes)
	if o.connection.InCharge() {
		return err
	}
	return o.other.WriteRTCP(packets, attributes)
}

// GetTargetBitrate is the rate of who is in charge.
func (o *Observer) GetTargetBitrate() int {
	if o.connection.InCharge() {
		return o.weir.GetTargetBitrate()
	}
	return o.other.GetTargetBitrate()
}

// OnTargetBitrateChange registers f, which is called with each new rate of who is in charge.
func (o *Observer) OnTargetBitrateChange(f func(bitrate int)) {
	o.telling.Lock()
	defer o.telling.Unlock()
	o.onChange = f
}

// GetStats are the other estimator's, with Weir's as "weir".
func (o *Observer) GetStats() map[string]any {
	stats := maps.Clone(o.other.GetStats())
	if stats == nil {
		stats = map[string]any{}
	}
	stats["weir"], stats["weirInCharge"] = o.weir.GetStats(), o.connection.InCharge()
	return stats
}

// Close ends both estimators and the connection; the PeerConnection's Close does it too.
func (o *Observer) Close() error {
	var err error
	o.close.Do(func() {
		close(o.closed)
		err = errors.Join(o.weir.Close(), o.other.Close(), o.connection.Close())
	})
	return err
}

// tell passes a rate on if it is of who is in charge.
func (o *Observer) tell(ofWeir bool, bitrate int) {
	o.telling.Lock()
	defer o.telling.Unlock()
	if ofWeir == o.connection.InCharge() && o.onChange != nil {
		o.onChange(bitrate)
	}
}

// poll watches the connection; how long to wait for the next time.
func (o *Observer) poll() time.Duration { return o.watcher.Poll(o.weir.nowUs()) }

// otherRateBps is 0 while Weir is in charge: without feedback the other's target is not that of this path.
func (o *Observer) otherRateBps() int64 {
	if o.connection.InCharge() {
		return 0
	}
	return int64(o.other.GetTargetBitrate())
}

// giveNumber numbers a packet that another estimator will send.
func (e *Estimator) giveNumber(extension []byte) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if len(extension) >= 2 {
		e.number(extension)
	}
}

// keepNumber is number for a packet that has one. It needs the mutex.
func (e *Estimator) keepNumber(extension []byte) (uint16, bool) {
	if len(extension) < 2 {
		return e.number(extension)
	}
	return binary.BigEndian.Uint16(extension), true
}

// lastSecond is that of the sender, with the rates in force.
func (e *Estimator) lastSecond(nowUs int64) (weir.Statistics, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	statistics, sent := e.sendSide.LastSecond(nowUs)
	statistics.TargetRateBps, statistics.Reason = e.rates.TargetRateBps, e.rates.Reason
	return statistics, sent
}
