package cc

import (
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/pacing"

	weir "weir/pion"
)

// pacer is pion's pacing interceptor at the rate of one Estimator. Without it, a frame leaves in one burst, which
// overflows queues that are shorter than the frame.
type pacer struct {
	factory *pacing.InterceptorFactory
	streams interceptor.Interceptor
	rateBps int64
}

func newPacer(rateBps int64) (*pacer, error) {
	factory := pacing.NewInterceptor(pacing.InitialRate(int(rateBps)))
	streams, err := factory.NewInterceptor("")
	return &pacer{factory, streams, rateBps}, err
}

// pace makes the pacer, which follows the estimator's rates.
func (e *Estimator) pace() (*pacer, error) {
	p, err := newPacer(e.Rates().PacingRateBps)
	if err == nil {
		e.pacer.Store(p)
	}
	return p, err
}

// add returns the writer of a stream. Audio passes at once: its packets are small, and would wait behind a frame.
func (p *pacer) add(info *interceptor.StreamInfo, writer interceptor.RTPWriter) interceptor.RTPWriter {
	if p == nil || kindOf(info) == weir.Audio {
		return writer
	}
	return p.streams.BindLocalStream(info, writer)
}

// follow sets the rate, in bit/s of RTP with its headers.
func (p *pacer) follow(rateBps int64) {
	if p != nil && rateBps != p.rateBps {
		p.rateBps = rateBps
		p.factory.SetRate("", int(rateBps))
	}
}

// close drops queued packets. It waits for one that is leaving, which takes the Estimator's mutex.
func (p *pacer) close() error {
	if p == nil {
		return nil
	}
	return p.streams.Close()
}
