package livekit

import (
	"fmt"
	"math"
	"os"
	"sync"

	"github.com/livekit/livekit-server/pkg/sfu/bwe"
	"github.com/livekit/protocol/logger"
	"github.com/prometheus/client_golang/prometheus"

	weir "weir/pion"
	"weir/pion/observe"
)

// The environment variables that configure a server.
const (
	modelVariable   = "WEIR_MODEL"
	observeVariable = "WEIR_OBSERVE"
	uplinkVariable  = "WEIR_UPLINK"
)

// wrongInput is the exit status, as Weir's programs have it.
const wrongInput = 2

var (
	// model is nil without WEIR_MODEL, observed without WEIR_OBSERVE.
	model    *weir.Model
	observed *observe.Connections
	// decides is logged once in a process.
	decides sync.Once
)

// A server with an environment variable that cannot be used does not start: else nobody would notice that LiveKit's own
// estimator decides.
func init() {
	path, folder := os.Getenv(modelVariable), os.Getenv(observeVariable)
	if path == "" {
		if os.Getenv(uplinkVariable) != "" {
			fail("%s needs a model in %s", uplinkVariable, modelVariable)
		}
		return
	}
	var err error
	if model, err = weir.LoadModelFile(path); err != nil {
		fail("the model that %s names: %v", modelVariable, err)
	}
	if folder == "" {
		return
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		fail("%s: %s is no folder", observeVariable, folder)
	}
	observed, err = observe.New(observe.Options{
		Host: "livekit", Other: "sendsidebwe", Folder: folder, Registerer: prometheus.DefaultRegisterer,
		OnError: func(err error) { logger.Warnw("weir: observing", err) },
	})
	if err != nil {
		fail("%s: %v", observeVariable, err)
	}
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "weir: "+format+"\n", arguments...)
	os.Exit(wrongInput)
}

// Instead returns an Estimator with the model that the environment variable WEIR_MODEL names, and `other` where it
// names none. With WEIR_OBSERVE, a folder, it runs the Estimator beside `other`; the folder gets a log of each
// connection, and its file in_charge decides who is in charge.
func Instead(other bwe.BWE, connection string, log logger.Logger) bwe.BWE {
	if model == nil {
		return other
	}
	estimator, err := New(weir.Config{Model: model, Constraints: weir.Constraints{StartRateBps: startRateBps}}, log)
	if err != nil {
		log.Errorw("weir: no estimator", err)
		return other
	}
	if observed != nil {
		decides.Do(func() { log.Infow("weir: observes each subscriber", "logs", os.Getenv(observeVariable)) })
		return NewObserver(estimator, other, observed.Open(connection))
	}
	decides.Do(func() { log.Infow("weir: decides for each subscriber", "model", os.Getenv(modelVariable)) })
	return estimator
}

// targetLog logs each target that differs from the last one by a quarter.
type targetLog struct {
	// logger may be nil.
	logger  logger.Logger
	message string
	lastBps int64
}

func (l *targetLog) log(bps int64, reason string) {
	if l.logger != nil && math.Abs(float64(bps-l.lastBps)) > 0.25*float64(l.lastBps) {
		l.lastBps = bps
		l.logger.Debugw(l.message, "bps", bps, "reason", reason)
	}
}
