//go:build cgo

package native

/*
#cgo CXXFLAGS: -std=c++20 -fno-exceptions -fno-rtti
#cgo noescape weir_estimator_on_packet
#cgo nocallback weir_estimator_on_packet
#cgo noescape weir_estimator_on_timeout
#cgo nocallback weir_estimator_on_timeout
#cgo nocallback weir_estimator_next_timeout_us
#cgo nocallback weir_estimator_omits_losses
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
#include <string.h>
#if !__has_include("weir.h")
#error "weir.h is missing in plugins/pion/internal/native: run `make amalgamation` in the clone of Weir, or build with CGO_ENABLED=0 after `make wasm`"
#endif
#include "weir.h"
*/
import "C"

import (
	"cmp"
	"runtime"
	"sync"
	"unsafe"
)

// HasWorker is whether Config.Worker has a thread.
const HasWorker = true

// text is a string in the library's static storage.
type text = *C.char

// Version is that of the library.
func Version() string { return C.GoString(C.weir_version()) }

// WriteRemoteEstimate writes RemoteEstimateSize bytes.
func WriteRemoteEstimate(buffer []byte) {
	C.weir_write_remote_estimate(RemoteEstimateLowerBps, (*C.uint8_t)(&buffer[:RemoteEstimateSize][0]))
}

// MaxPlayoutDelayUs is weir_max_playout_delay_us.
func MaxPlayoutDelayUs(jitterUs, roundTripTimeUs, frameIntervalUs, previousUs int64) int64 {
	return int64(C.weir_max_playout_delay_us(
		C.int64_t(jitterUs), C.int64_t(roundTripTimeUs), C.int64_t(frameIntervalUs), C.int64_t(previousUs)))
}

// Model is a weir_model, for any number of goroutines.
type Model struct {
	mutex  sync.RWMutex
	handle *C.weir_model
}

// LoadModel reads a model from memory.
func LoadModel(onnx []byte) (*Model, error) {
	defer onThread()()
	m := &Model{}
	code := C.weir_model_load(unsafe.Pointer(unsafe.SliceData(onnx)), C.size_t(len(onnx)), &m.handle)
	return m, failure(code)
}

// LoadShippedModel loads the model that is part of the library.
func LoadShippedModel() (*Model, error) {
	defer onThread()()
	m := &Model{}
	return m, failure(C.weir_model_load_shipped(&m.handle))
}

// Close frees it.
func (m *Model) Close() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	C.weir_model_destroy(m.handle)
	m.handle = nil
}

// newController is what decides; the caller destroys it.
func (c *Config) newController() (*C.weir_controller, error) {
	var controller, policy *C.weir_controller
	if c.BuiltIn != "" {
		name := C.CString(c.BuiltIn)
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
func (c *Config) create(create func(*C.weir_controller, *C.weir_estimator_config) C.int) error {
	defer onThread()()
	controller, err := c.newController()
	if err != nil {
		return err
	}
	defer C.weir_controller_destroy(controller)
	config := C.weir_estimator_default_config()
	given := (*Constraints)(unsafe.Pointer(&config.constraints))
	given.MinRateBps = cmp.Or(c.Constraints.MinRateBps, given.MinRateBps)
	given.StartRateBps = cmp.Or(c.Constraints.StartRateBps, given.StartRateBps)
	given.MaxRateBps = cmp.Or(c.Constraints.MaxRateBps, given.MaxRateBps)
	given.MaxMediaRateBps = c.Constraints.MaxMediaRateBps
	if c.Objective != [3]float32{} {
		config.objective_throughput = C.float(c.Objective[0])
		config.objective_latency = C.float(c.Objective[1])
		config.objective_loss = C.float(c.Objective[2])
	}
	return failure(create(controller, &config))
}

// Estimator is a weir_estimator.
type Estimator struct{ handle *C.weir_estimator }

// NewEstimator makes one.
func NewEstimator(config Config) (Estimator, error) {
	var e Estimator
	err := config.create(func(controller *C.weir_controller, c *C.weir_estimator_config) C.int {
		return C.weir_estimator_create(controller, c, &e.handle)
	})
	return e, err
}

// Close frees it.
func (e *Estimator) Close() {
	C.weir_estimator_destroy(e.handle)
	e.handle = nil
}

func (e *Estimator) failure(code C.int) error { return failureOf(e.handle == nil, code) }

// OnPacket is weir_estimator_on_packet.
func (e *Estimator) OnPacket(packet *Packet) error {
	defer onThread()()
	return e.failure(C.weir_estimator_on_packet(e.handle, (*C.weir_packet)(unsafe.Pointer(packet))))
}

// RemoveStream is weir_estimator_remove_stream.
func (e *Estimator) RemoveStream(ssrc uint32) error {
	defer onThread()()
	return e.failure(C.weir_estimator_remove_stream(e.handle, C.uint32_t(ssrc)))
}

// NextTimeoutUs is weir_estimator_next_timeout_us.
func (e *Estimator) NextTimeoutUs() int64 { return int64(C.weir_estimator_next_timeout_us(e.handle)) }

// OmitsLosses is weir_estimator_omits_losses.
func (e *Estimator) OmitsLosses() bool { return C.weir_estimator_omits_losses(e.handle) != 0 }

// OnTimeout is weir_estimator_on_timeout; the bits of its result.
func (e *Estimator) OnTimeout(nowUs int64, estimate *Estimate) (int, error) {
	defer onThread()()
	code := C.weir_estimator_on_timeout(e.handle, C.int64_t(nowUs), (*C.weir_estimate)(unsafe.Pointer(estimate)))
	return max(0, int(code)), e.failure(code)
}

// Estimate is weir_estimator_get_estimate.
func (e *Estimator) Estimate(estimate *Estimate) error {
	defer onThread()()
	return e.failure(C.weir_estimator_get_estimate(e.handle, (*C.weir_estimate)(unsafe.Pointer(estimate))))
}

// WriteREMB is weir_estimator_write_remb.
func (e *Estimator) WriteREMB(senderSSRC uint32, buffer []byte) (int, error) {
	defer onThread()()
	first := (*C.uint8_t)(unsafe.SliceData(buffer))
	size := C.weir_estimator_write_remb(e.handle, C.uint32_t(senderSSRC), first, C.size_t(len(buffer)))
	return max(0, int(size)), e.failure(size)
}

// SetObjective is weir_estimator_set_objective.
func (e *Estimator) SetObjective(throughput, latency, loss float32) error {
	defer onThread()()
	return e.failure(C.weir_estimator_set_objective(e.handle, C.float(throughput), C.float(latency), C.float(loss)))
}

// SetConstraints is weir_estimator_set_constraints.
func (e *Estimator) SetConstraints(constraints *Constraints, nowUs int64) error {
	defer onThread()()
	given := (*C.weir_target_rate_constraints)(unsafe.Pointer(constraints))
	return e.failure(C.weir_estimator_set_constraints(e.handle, given, C.int64_t(nowUs)))
}

// Statistics is weir_estimator_get_statistics.
func (e *Estimator) Statistics(nowUs int64, statistics *Statistics) error {
	defer onThread()()
	s := (*C.weir_estimator_statistics)(unsafe.Pointer(statistics))
	return e.failure(C.weir_estimator_get_statistics(e.handle, C.int64_t(nowUs), s, C.sizeof_weir_estimator_statistics))
}

// Text is the string of a reason, which needs no copy; "" for none.
func (e *Estimator) Text(t text) string { return staticText(t) }

// SendSide is a weir_send_side.
type SendSide struct{ handle *C.weir_send_side }

// NewSendSide makes one.
func NewSendSide(config Config, pacingFactor float64) (SendSide, error) {
	var s SendSide
	err := config.create(func(controller *C.weir_controller, c *C.weir_estimator_config) C.int {
		return C.weir_send_side_create(controller, c, C.double(pacingFactor), &s.handle)
	})
	return s, err
}

// Close frees it.
func (s *SendSide) Close() {
	C.weir_send_side_destroy(s.handle)
	s.handle = nil
}

func (s *SendSide) failure(code C.int) error { return failureOf(s.handle == nil, code) }

// OnSentPacket is weir_send_side_on_sent_packet.
func (s *SendSide) OnSentPacket(packet *SentPacket) error {
	defer onThread()()
	return s.failure(C.weir_send_side_on_sent_packet(s.handle, (*C.weir_sent_packet)(unsafe.Pointer(packet))))
}

// OnTransportFeedback is weir_send_side_on_transport_feedback.
func (s *SendSide) OnTransportFeedback(feedback []PacketFeedback, nowUs int64) error {
	defer onThread()()
	first := (*C.weir_packet_feedback)(unsafe.Pointer(unsafe.SliceData(feedback)))
	return s.failure(C.weir_send_side_on_transport_feedback(s.handle, first, C.size_t(len(feedback)), C.int64_t(nowUs)))
}

// NextTimeoutUs is weir_send_side_next_timeout_us.
func (s *SendSide) NextTimeoutUs() int64 { return int64(C.weir_send_side_next_timeout_us(s.handle)) }

// OnTimeout is weir_send_side_on_timeout.
func (s *SendSide) OnTimeout(nowUs int64) error {
	defer onThread()()
	return s.failure(C.weir_send_side_on_timeout(s.handle, C.int64_t(nowUs)))
}

// OnRoundTripTime is weir_send_side_on_round_trip_time.
func (s *SendSide) OnRoundTripTime(us, nowUs int64) error {
	defer onThread()()
	return s.failure(C.weir_send_side_on_round_trip_time(s.handle, C.int64_t(us), C.int64_t(nowUs)))
}

// Rates is weir_send_side_get_rates.
func (s *SendSide) Rates(rates *Rates) error {
	defer onThread()()
	return s.failure(C.weir_send_side_get_rates(s.handle, (*C.weir_send_side_rates)(unsafe.Pointer(rates))))
}

// SetDesiredRate is weir_send_side_set_desired_rate.
func (s *SendSide) SetDesiredRate(totalBps, nextBps int64) error {
	defer onThread()()
	return s.failure(C.weir_send_side_set_desired_rate(s.handle, C.int64_t(totalBps), C.int64_t(nextBps)))
}

// TakeProbeCluster is weir_send_side_take_probe_cluster.
func (s *SendSide) TakeProbeCluster(cluster *ProbeCluster) error {
	defer onThread()()
	return s.failure(C.weir_send_side_take_probe_cluster(s.handle, (*C.weir_probe_cluster)(unsafe.Pointer(cluster))))
}

// NetworkState is weir_send_side_get_network_state.
func (s *SendSide) NetworkState(state *NetworkState) error {
	defer onThread()()
	return s.failure(C.weir_send_side_get_network_state(s.handle, (*C.weir_network_state)(unsafe.Pointer(state))))
}

// SetObjective is weir_send_side_set_objective.
func (s *SendSide) SetObjective(throughput, latency, loss float32) error {
	defer onThread()()
	return s.failure(C.weir_send_side_set_objective(s.handle, C.float(throughput), C.float(latency), C.float(loss)))
}

// SetConstraints is weir_send_side_set_constraints.
func (s *SendSide) SetConstraints(constraints *Constraints, nowUs int64) error {
	defer onThread()()
	given := (*C.weir_target_rate_constraints)(unsafe.Pointer(constraints))
	return s.failure(C.weir_send_side_set_constraints(s.handle, given, C.int64_t(nowUs)))
}

// Statistics is weir_send_side_get_statistics.
func (s *SendSide) Statistics(statistics *Statistics) error {
	defer onThread()()
	to := (*C.weir_estimator_statistics)(unsafe.Pointer(statistics))
	return s.failure(C.weir_send_side_get_statistics(s.handle, to, C.sizeof_weir_estimator_statistics))
}

// Counters is weir_send_side_get_counters.
func (s *SendSide) Counters(counters *SendSideCounters) error {
	defer onThread()()
	given := (*C.weir_send_side_counters)(unsafe.Pointer(counters))
	return s.failure(C.weir_send_side_get_counters(s.handle, given, C.sizeof_weir_send_side_counters))
}

// Text is the string of a reason, which needs no copy; "" for none.
func (s *SendSide) Text(t text) string { return staticText(t) }

// LayerAllocator is a weir_layer_allocator.
type LayerAllocator struct{ handle *C.weir_layer_allocator }

// NewLayerAllocator makes one.
func NewLayerAllocator(margin float64, waitUs int64) (LayerAllocator, error) {
	defer onThread()()
	var l LayerAllocator
	err := failure(C.weir_layer_allocator_create(C.double(margin), C.int64_t(waitUs), &l.handle))
	return l, err
}

// Close frees it.
func (l *LayerAllocator) Close() {
	C.weir_layer_allocator_destroy(l.handle)
	l.handle = nil
}

func (l *LayerAllocator) failure(code C.int) error { return failureOf(l.handle == nil, code) }

// SetStreams is weir_layer_allocator_set_streams.
func (l *LayerAllocator) SetStreams(streams []MediaStream) error {
	defer onThread()()
	first := (*C.weir_media_stream)(unsafe.Pointer(unsafe.SliceData(streams)))
	return l.failure(C.weir_layer_allocator_set_streams(l.handle, first, C.size_t(len(streams))))
}

// Allocate is weir_layer_allocator_allocate.
func (l *LayerAllocator) Allocate(targetRateBps, nowUs int64, allocations []LayerAllocation) error {
	defer onThread()()
	first := (*C.weir_layer_allocation)(unsafe.Pointer(unsafe.SliceData(allocations)))
	return l.failure(C.weir_layer_allocator_allocate(
		l.handle, C.int64_t(targetRateBps), C.int64_t(nowUs), first, C.size_t(len(allocations))))
}

// Rates is weir_layer_allocator_get_rates.
func (l *LayerAllocator) Rates(rates *LayerRates) error {
	defer onThread()()
	return l.failure(C.weir_layer_allocator_get_rates(l.handle, (*C.weir_layer_rates)(unsafe.Pointer(rates))))
}

// Text is the string of a reason, which needs no copy; "" for none.
func (l *LayerAllocator) Text(t text) string { return staticText(t) }

func staticText(t text) string {
	if t == nil {
		return ""
	}
	return unsafe.String((*byte)(unsafe.Pointer(t)), int(C.strlen(t)))
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

func failureOf(closed bool, code C.int) error {
	if closed {
		return ErrClosed
	}
	return failure(code)
}

// The structs of types.go are handed on as they are. An array of another length is another type.
var (
	_ [C.sizeof_weir_packet]struct{}                  = [unsafe.Sizeof(Packet{})]struct{}{}
	_ [C.sizeof_weir_target_rate_constraints]struct{} = [unsafe.Sizeof(Constraints{})]struct{}{}
	_ [C.sizeof_weir_estimate]struct{}                = [unsafe.Sizeof(Estimate{})]struct{}{}
	_ [C.sizeof_weir_estimator_statistics]struct{}    = [unsafe.Sizeof(Statistics{})]struct{}{}
	_ [C.sizeof_weir_sent_packet]struct{}             = [unsafe.Sizeof(SentPacket{})]struct{}{}
	_ [C.sizeof_weir_packet_feedback]struct{}         = [unsafe.Sizeof(PacketFeedback{})]struct{}{}
	_ [C.sizeof_weir_send_side_rates]struct{}         = [unsafe.Sizeof(Rates{})]struct{}{}
	_ [C.sizeof_weir_probe_cluster]struct{}           = [unsafe.Sizeof(ProbeCluster{})]struct{}{}
	_ [C.sizeof_weir_network_state]struct{}           = [unsafe.Sizeof(NetworkState{})]struct{}{}
	_ [C.sizeof_weir_send_side_counters]struct{}      = [unsafe.Sizeof(SendSideCounters{})]struct{}{}
	_ [C.sizeof_weir_media_stream]struct{}            = [unsafe.Sizeof(MediaStream{})]struct{}{}
	_ [C.sizeof_weir_layer_allocation]struct{}        = [unsafe.Sizeof(LayerAllocation{})]struct{}{}
	_ [C.sizeof_weir_layer_rates]struct{}             = [unsafe.Sizeof(LayerRates{})]struct{}{}
	_ [C.WEIR_MAX_MEDIA_STREAMS]struct{}              = [MaxMediaStreams]struct{}{}
	_ [C.WEIR_MAX_MEDIA_LAYERS]struct{}               = [MaxMediaLayers]struct{}{}
	_ [C.WEIR_REMOTE_ESTIMATE_SIZE]struct{}           = [RemoteEstimateSize]struct{}{}
	_ [C.WEIR_REMOTE_ESTIMATE_LOWER_BPS]struct{}      = [RemoteEstimateLowerBps]struct{}{}
	_ [C.WEIR_REMB_DUE]struct{}                       = [REMBDue]struct{}{}
	_ [C.WEIR_MIN_PLAYOUT_DELAY_US]struct{}           = [MinPlayoutDelayUs]struct{}{}
)
