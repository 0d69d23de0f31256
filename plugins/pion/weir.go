// Package weir is Weir's C interface (weir.h) for Go: a model that any number of estimators share, the receiver's
// Estimator, SendSide, which makes its estimate at the sender from transport-wide feedback, and LayerAllocator, which
// divides that estimate among the streams of an SFU. Packages remb and cc put the estimators into pion.
//
// Times are microseconds of one monotonic clock, rates bits per second. Calls on one Estimator or SendSide must not
// overlap; a Model may be used by any number of goroutines. Errors come with the call that failed, on whatever thread
// its goroutine runs.
package weir

/*
#cgo CXXFLAGS: -std=c++20 -fno-exceptions -fno-rtti
#cgo noescape weir_estimator_on_packet
#cgo nocallback weir_estimator_on_packet
#cgo noescape weir_estimator_on_timeout
#cgo nocallback weir_estimator_on_timeout
#cgo nocallback weir_estimator_next_timeout_us
#cgo noescape weir_send_side_on_sent_packet
#cgo nocallback weir_send_side_on_sent_packet
#cgo noescape weir_send_side_on_transport_feedback
#cgo nocallback weir_send_side_on_transport_feedback
#cgo noescape weir_send_side_get_rates
#cgo nocallback weir_send_side_get_rates
#cgo noescape weir_send_side_take_probe_cluster
#cgo nocallback weir_send_side_take_probe_cluster
#cgo noescape weir_send_side_get_network_state
#cgo nocallback weir_send_side_get_network_state
#cgo nocallback weir_send_side_next_timeout_us
#cgo noescape weir_layer_allocator_allocate
#cgo nocallback weir_layer_allocator_allocate
#cgo noescape weir_layer_allocator_get_rates
#cgo nocallback weir_layer_allocator_get_rates
#include <stdlib.h>
#include "weir.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// ErrClosed is what calls after Close return.
var ErrClosed = errors.New("weir: closed")

// Error is a call that failed.
type Error struct {
	// Code is a weir_error of weir.h, below 0.
	Code int
	// Message is a sentence for the user.
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("weir: %s (%d)", e.Message, e.Code) }

// Version is that of the library.
func Version() string { return C.GoString(C.weir_version()) }

// Objective weighs throughput, latency and loss; each above 0, divided by their sum. In a
// Config the zero value is the balanced one.
type Objective struct {
	Throughput, Latency, Loss float32
}

// Model is a policy (ONNX), read and checked once for any number of estimators, which keep what they need of it.
type Model struct {
	mutex  sync.RWMutex
	handle *C.weir_model
}

// LoadModel reads a model from memory; it takes milliseconds.
func LoadModel(onnx []byte) (*Model, error) {
	defer onThread()()
	model := &Model{}
	code := C.weir_model_load(unsafe.Pointer(unsafe.SliceData(onnx)), C.size_t(len(onnx)), &model.handle)
	if err := failure(code); err != nil {
		return nil, err
	}
	return model, nil
}

// LoadShippedModel loads the model that is part of the library.
func LoadShippedModel() (*Model, error) {
	defer onThread()()
	model := &Model{}
	if err := failure(C.weir_model_load_shipped(&model.handle)); err != nil {
		return nil, err
	}
	return model, nil
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
func (m *Model) Close() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	C.weir_model_destroy(m.handle)
	m.handle = nil
}

// Config is that of an Estimator or a SendSide. Zero values are the library's defaults.
type Config struct {
	// Model decides, unless Controller names "rule", "nada" or "fixed"; then it must be nil.
	Model      *Model
	Controller string
	// Pool is several controllers in one line, such as "pilot=weir copilots=nada,rule fusion=min"; Model is that of the
	// member "weir", and Controller must be empty.
	Pool string
	// Worker: models are computed on one thread for the whole process, for which no call waits.
	Worker                               bool
	MinRateBps, StartRateBps, MaxRateBps int64
	Objective                            Objective
}

// newController is what decides; the caller destroys it. Call it with onThread.
func (c Config) newController() (*C.weir_controller, error) {
	var controller, policy *C.weir_controller
	if c.Controller != "" {
		if c.Model != nil || c.Pool != "" {
			return nil, errors.New("weir: Controller goes with neither Model nor Pool")
		}
		name := C.CString(c.Controller)
		defer C.free(unsafe.Pointer(name))
		err := failure(C.weir_controller_create_built_in(name, &controller))
		return controller, err
	}
	if c.Model != nil {
		var worker C.int
		if c.Worker {
			worker = 1
		}
		c.Model.mutex.RLock()
		defer c.Model.mutex.RUnlock()
		if c.Model.handle == nil {
			return nil, ErrClosed
		}
		if err := failure(C.weir_controller_create_policy(c.Model.handle, worker, &policy)); err != nil {
			return nil, err
		}
	}
	if c.Pool == "" {
		if policy == nil {
			return nil, errors.New("weir: one of Model, Controller and Pool is needed")
		}
		return policy, nil
	}
	defer C.weir_controller_destroy(policy)
	specification, name := C.CString(c.Pool), C.CString("weir")
	defer C.free(unsafe.Pointer(specification))
	defer C.free(unsafe.Pointer(name))
	member, count := C.weir_named_controller{name: name, controller: policy}, C.size_t(0)
	if policy != nil {
		count = 1
	}
	err := failure(C.weir_controller_create_pool(specification, &member, count, nil, nil, &controller))
	return controller, err
}

// create hands the C forms of the controller and of the rest to `create`.
func (c Config) create(create func(*C.weir_controller, *C.weir_estimator_config) C.int) error {
	defer onThread()()
	controller, err := c.newController()
	if err != nil {
		return err
	}
	defer C.weir_controller_destroy(controller)
	config := C.weir_estimator_default_config()
	if c.MinRateBps != 0 {
		config.min_rate_bps = C.int64_t(c.MinRateBps)
	}
	if c.StartRateBps != 0 {
		config.start_rate_bps = C.int64_t(c.StartRateBps)
	}
	if c.MaxRateBps != 0 {
		config.max_rate_bps = C.int64_t(c.MaxRateBps)
	}
	if c.Objective != (Objective{}) {
		config.objective_throughput = C.float(c.Objective.Throughput)
		config.objective_latency = C.float(c.Objective.Latency)
		config.objective_loss = C.float(c.Objective.Loss)
	}
	return failure(create(controller, &config))
}

// onThread keeps the goroutine on its thread, which has the message of its last failure, until the result is called.
func onThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// failure is the error of a call on this thread.
func failure(code C.int) error {
	if code >= 0 {
		return nil
	}
	return &Error{Code: int(code), Message: C.GoString(C.weir_last_error())}
}
