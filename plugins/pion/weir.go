// Package weir is Weir's C interface (weir.h) for Go: a model that any number of estimators share, the receiver's
// Estimator, SendSide, which makes its estimate at the sender from transport-wide feedback, and LayerAllocator, which
// divides that estimate among the streams of an SFU. Packages remb and cc put the estimators into pion.
//
// Times are microseconds of one monotonic clock, rates bits per second. Calls on one Estimator or SendSide must not
// overlap; a Model may be used by any number of goroutines. Errors come with the call that failed, on whatever thread
// its goroutine runs.
//
// cgo compiles the library within this module. Without cgo (CGO_ENABLED=0, amd64 and arm64) it is WebAssembly under wazero:
// the same targets at a higher cost.
package weir

import (
	"errors"
	"os"

	"weir/pion/internal/native"
)

// ErrClosed is what calls after Close return.
var ErrClosed = native.ErrClosed

// Error is a call that failed, with a weir_error of weir.h below 0 and a sentence for the user.
type Error = native.Error

// Version is that of the library.
func Version() string { return native.Version() }

// Objective weighs throughput, latency and loss; each above 0, divided by their sum. In a
// Config the zero value is the balanced one.
type Objective struct {
	Throughput, Latency, Loss float32
}

// Model is a policy (ONNX), read and checked once for any number of estimators, which keep what they need of it.
type Model struct{ native *native.Model }

// LoadModel reads a model from memory; it takes milliseconds.
func LoadModel(onnx []byte) (*Model, error) { return loaded(native.LoadModel(onnx)) }

// LoadShippedModel loads the model that is part of the library.
func LoadShippedModel() (*Model, error) { return loaded(native.LoadShippedModel()) }

func loaded(model *native.Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	return &Model{model}, nil
}

// LoadModelFile reads a model from a file.
func LoadModelFile(path string) (*Model, error) {
	onnx, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return LoadModel(onnx)
}

// Close frees the model; what was made with it goes on. A second call does nothing.
func (m *Model) Close() { m.native.Close() }

// Config is that of an Estimator or a SendSide. Zero values are the library's defaults.
type Config struct {
	// Model decides, unless Controller names "rule", "nada" or "fixed"; then it must be nil.
	Model      *Model
	Controller string
	// Pool is several controllers in one line, such as "pilot=weir copilots=nada,rule fusion=min"; Model is that of the
	// member "weir", and Controller must be empty.
	Pool string
	// Worker: models are computed on one thread for the whole process, for which no call waits; without cgo they do.
	Worker bool
	Constraints
	Objective Objective
}

// Constraints bound every rate.
type Constraints struct {
	MinRateBps, StartRateBps, MaxRateBps int64
	// MaxMediaRateBps is the most that the media use; 0: unknown. Only under loss is the rate higher, up to twice that:
	// for retransmissions and FEC.
	MaxMediaRateBps int64
}

// native is the configuration as the library takes it.
func (c Config) native() (native.Config, error) {
	if c.Controller != "" && (c.Model != nil || c.Pool != "") {
		return native.Config{}, errors.New("weir: Controller goes with neither Model nor Pool")
	}
	if c.Controller == "" && c.Model == nil && c.Pool == "" {
		return native.Config{}, errors.New("weir: one of Model, Controller and Pool is needed")
	}
	config := native.Config{
		BuiltIn: c.Controller, Pool: c.Pool, Worker: c.Worker,
		Constraints: native.Constraints(c.Constraints),
		Objective:   [3]float32{c.Objective.Throughput, c.Objective.Latency, c.Objective.Loss},
	}
	if c.Model != nil {
		config.Model = c.Model.native
	}
	return config, nil
}
