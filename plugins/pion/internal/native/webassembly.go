//go:build !cgo && (amd64 || arm64)

package native

import (
	"context"
	"embed"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// webAssembly has weir.wasm, the library as one file, if `make wasm` or `make packages` has written it. weir.wasm.md keeps
// the pattern valid without it: `go mod vendor` evaluates patterns of all build tags.
//
//go:embed weir.wasm*
var webAssembly embed.FS

var errNoWebAssembly = errors.New("weir: built without cgo and without weir.wasm: build with CGO_ENABLED=1 and a C++ " +
	"compiler, or run `make wasm` in Weir's repository and vendor again")

// HasWorker is whether Config.Worker has a thread.
const HasWorker = false

// text is the address of a string; its upper half is padding.
type text = uint64

// function is a function of weir.h that packets and timers call; others go by their names.
type function int

const (
	estimatorOnPacket function = iota
	estimatorNextTimeout
	estimatorOmitsLosses
	estimatorOnTimeout
	sendSideOnSentPacket
	sendSideOnTransportFeedback
	sendSideNextTimeout
	sendSideGetRates
	sendSideTakeProbeCluster
	layerAllocatorAllocate
	functions
)

var names = [functions]string{
	"weir_estimator_on_packet", "weir_estimator_next_timeout_us", "weir_estimator_omits_losses", "weir_estimator_on_timeout",
	"weir_send_side_on_sent_packet", "weir_send_side_on_transport_feedback", "weir_send_side_next_timeout_us",
	"weir_send_side_get_rates", "weir_send_side_take_probe_cluster", "weir_layer_allocator_allocate",
}

// instance is the library in a memory of its own; one goroutine at a time is in it.
type instance struct {
	mutex     sync.Mutex
	module    api.Module
	memory    api.Memory
	functions [functions]api.Function
	// Arguments and results of a call.
	stack [8]uint64
	// A block for structs, and its size.
	block, blockSize uint32
	// The strings of reasons by their addresses.
	texts  map[uint32]string
	models map[*Model]uint32
}

// As many instances as goroutines run at once, so that each core computes; the objects take them in turn.
var (
	instances []*instance
	taken     atomic.Uint32
	start     = sync.OnceValue(func() error {
		code, err := webAssembly.ReadFile("weir.wasm")
		if err != nil {
			return errNoWebAssembly
		}
		ctx := context.Background()
		r := wazero.NewRuntime(ctx)
		wasi_snapshot_preview1.MustInstantiate(ctx, r)
		compiled, err := r.CompileModule(ctx, code)
		if err != nil {
			return err
		}
		// The clock times a model that is loaded.
		config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithSysNanotime().WithSysWalltime()
		for range runtime.GOMAXPROCS(0) {
			module, err := r.InstantiateModule(ctx, compiled, config)
			if err != nil {
				return err
			}
			in := &instance{
				module: module, memory: module.Memory(), texts: map[uint32]string{}, models: map[*Model]uint32{},
			}
			for i, name := range names {
				in.functions[i] = module.ExportedFunction(name)
			}
			instances = append(instances, in)
		}
		return nil
	})
)

// enter takes the next instance, locked.
func enter() (*instance, error) {
	if err := start(); err != nil {
		return nil, err
	}
	in := instances[int(taken.Add(1))%len(instances)]
	in.mutex.Lock()
	return in, nil
}

// must is the value of what fails only when the module was damaged.
func must[T any](value T, ok bool) T {
	if !ok {
		panic("weir: an address outside the WebAssembly's memory")
	}
	return value
}

func (in *instance) invoke(f api.Function, arguments ...uint64) uint64 {
	copy(in.stack[:], arguments)
	if err := f.CallWithStack(context.Background(), in.stack[:]); err != nil {
		panic("weir: " + err.Error())
	}
	return in.stack[0]
}

// named calls a function by its name.
func (in *instance) named(name string, arguments ...uint64) uint64 {
	return in.invoke(in.module.ExportedFunction(name), arguments...)
}

// reserve is the address of the block, of at least this many bytes.
func (in *instance) reserve(size int) uint32 {
	if wanted := uint32(max(size, 4096)); wanted > in.blockSize {
		in.named("free", uint64(in.block))
		in.block, in.blockSize = uint32(in.named("malloc", uint64(wanted))), wanted
		if in.block == 0 {
			in.blockSize = 0
			panic("weir: out of memory")
		}
	}
	return in.block
}

// put copies bytes into the block; the address.
func (in *instance) put(data []byte) uint64 {
	at := in.reserve(len(data))
	must(0, in.memory.Write(at, data))
	return uint64(at)
}

// get copies bytes out of the block.
func (in *instance) get(data []byte) { copy(data, must(in.memory.Read(in.block, uint32(len(data))))) }

func (in *instance) text(address uint32) string {
	if address == 0 {
		return ""
	}
	known, ok := in.texts[address]
	if !ok {
		size := uint32(0)
		for must(in.memory.ReadByte(address+size)) != 0 {
			size++
		}
		known = string(must(in.memory.Read(address, size)))
		in.texts[address] = known
	}
	return known
}

// failure is the error of the latest call.
func (in *instance) failure(code uint64) error {
	if int32(code) >= 0 {
		return nil
	}
	address := uint32(in.named("weir_last_error"))
	// The message of the next failure is at the same address.
	delete(in.texts, address)
	return &Error{Code: int(int32(code)), Message: in.text(address)}
}

// created is the handle that a function has written at `at`.
func (in *instance) created(at, code uint64) (uint32, error) {
	if err := in.failure(code); err != nil {
		return 0, err
	}
	return must(in.memory.ReadUint32Le(uint32(at))), nil
}

// bytesOf are the bytes of a struct, whose layout is that in WebAssembly.
func bytesOf[T any](value *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(value)), unsafe.Sizeof(*value))
}

func bytesOfAll[T any](values []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(one)))
}

// Version is that of the library.
func Version() string {
	in, err := enter()
	if err != nil {
		return ""
	}
	defer in.mutex.Unlock()
	return in.text(uint32(in.named("weir_version")))
}

// WriteRemoteEstimate writes RemoteEstimateSize bytes.
func WriteRemoteEstimate(buffer []byte) {
	in, err := enter()
	if err != nil {
		panic(err)
	}
	defer in.mutex.Unlock()
	in.named("weir_write_remote_estimate", RemoteEstimateLowerBps, in.put(buffer[:RemoteEstimateSize]))
	in.get(buffer[:RemoteEstimateSize])
}

// MaxPlayoutDelayUs is weir_max_playout_delay_us.
func MaxPlayoutDelayUs(jitterUs, roundTripTimeUs, frameIntervalUs, previousUs int64) int64 {
	in, err := enter()
	if err != nil {
		panic(err)
	}
	defer in.mutex.Unlock()
	return int64(in.named("weir_max_playout_delay_us",
		uint64(jitterUs), uint64(roundTripTimeUs), uint64(frameIntervalUs), uint64(previousUs)))
}

// Model is a weir_model in each instance that has used it, for any number of goroutines.
type Model struct {
	// Nil for the shipped one.
	onnx   []byte
	closed atomic.Bool
}

// LoadModel reads a model from memory.
func LoadModel(onnx []byte) (*Model, error) { return (&Model{onnx: append([]byte{}, onnx...)}).load() }

// LoadShippedModel loads the model that is part of the library.
func LoadShippedModel() (*Model, error) { return (&Model{}).load() }

// load checks the model.
func (m *Model) load() (*Model, error) {
	in, err := enter()
	if err != nil {
		return nil, err
	}
	defer in.mutex.Unlock()
	_, err = m.in(in)
	return m, err
}

// in is the model's handle in an instance.
func (m *Model) in(in *instance) (uint32, error) {
	if handle, ok := in.models[m]; ok {
		return handle, nil
	}
	var handle uint32
	var err error
	if m.onnx == nil {
		at := uint64(in.reserve(8))
		handle, err = in.created(at, in.named("weir_model_load_shipped", at))
	} else {
		at := in.put(append(make([]byte, 8), m.onnx...))
		handle, err = in.created(at, in.named("weir_model_load", at+8, uint64(len(m.onnx)), at))
	}
	if err == nil {
		in.models[m] = handle
	}
	return handle, err
}

// Close frees it.
func (m *Model) Close() {
	if m.closed.Swap(true) {
		return
	}
	for _, in := range instances {
		in.mutex.Lock()
		in.named("weir_model_destroy", uint64(in.models[m]))
		delete(in.models, m)
		in.mutex.Unlock()
	}
}

// newController is what decides; the caller destroys it.
func (c *Config) newController(in *instance) (uint32, error) {
	if c.BuiltIn != "" {
		at := in.put(append(make([]byte, 8), c.BuiltIn+"\x00"...))
		return in.created(at, in.named("weir_controller_create_built_in", at+8, at))
	}
	var policy uint32
	if c.Model != nil {
		if c.Model.closed.Load() {
			return 0, ErrClosed
		}
		model, err := c.Model.in(in)
		if err != nil {
			return 0, err
		}
		at := uint64(in.reserve(8))
		// Without threads each call computes.
		policy, err = in.created(at, in.named("weir_controller_create_policy", uint64(model), 0, at))
		if err != nil {
			return 0, err
		}
	}
	if c.Pool == "" {
		return policy, nil
	}
	defer in.named("weir_controller_destroy", uint64(policy))
	// The result, a weir_named_controller, its name, the specification.
	at := in.put(append(make([]byte, 16), "weir\x00"+c.Pool+"\x00"...))
	member, name, specification := at+8, at+16, at+21
	must(0, in.memory.WriteUint32Le(uint32(member), uint32(name)))
	must(0, in.memory.WriteUint32Le(uint32(member)+4, policy))
	count := uint64(0)
	if policy != 0 {
		count = 1
	}
	return in.created(at, in.named("weir_controller_create_pool", specification, member, count, 0, 0, at))
}

// object is a handle in its instance.
type object struct {
	in     *instance
	handle uint32
}

// configBytes is the size of weir_estimator_config in WebAssembly: size (padded), four rates, three weights, ...
const configBytes = 88

// create makes the controller, then the object with `create`, whose arguments are the addresses of the controller, of the
// configuration and of the result.
func (c *Config) create(create func(in *instance, controller, config, result uint64) uint64) (object, error) {
	in, err := enter()
	if err != nil {
		return object{}, err
	}
	defer in.mutex.Unlock()
	controller, err := c.newController(in)
	if err != nil {
		return object{}, err
	}
	defer in.named("weir_controller_destroy", uint64(controller))
	result := uint64(in.reserve(256))
	config := result + 16
	in.named("weir_estimator_config_init", config, configBytes)
	given := c.Constraints
	for i, rate := range []int64{given.MinRateBps, given.StartRateBps, given.MaxRateBps, given.MaxMediaRateBps} {
		if rate != 0 {
			must(0, in.memory.WriteUint64Le(uint32(config)+8+uint32(8*i), uint64(rate)))
		}
	}
	if c.Objective != [3]float32{} {
		for i, weight := range c.Objective {
			must(0, in.memory.WriteFloat32Le(uint32(config)+40+uint32(4*i), weight))
		}
	}
	handle, err := in.created(result, create(in, uint64(controller), config, result))
	return object{in, handle}, err
}

// lock begins a call: ErrClosed without a handle.
func (o *object) lock() error {
	if o.handle == 0 {
		return ErrClosed
	}
	o.in.mutex.Lock()
	return nil
}

func (o *object) destroy(name string) {
	if o.lock() != nil {
		return
	}
	defer o.in.mutex.Unlock()
	o.in.named(name, uint64(o.handle))
	o.handle = 0
}

// call calls a function by its name, with scalars after the handle.
func (o *object) call(name string, arguments ...uint64) error {
	if err := o.lock(); err != nil {
		return err
	}
	defer o.in.mutex.Unlock()
	return o.in.failure(o.in.named(name, append([]uint64{uint64(o.handle)}, arguments...)...))
}

// write calls a function with a struct, then scalars, after the handle.
func (o *object) write(name string, data []byte, arguments ...uint64) error {
	if err := o.lock(); err != nil {
		return err
	}
	defer o.in.mutex.Unlock()
	at := o.in.put(data)
	return o.in.failure(o.in.named(name, append([]uint64{uint64(o.handle), at}, arguments...)...))
}

// read calls a function that fills a struct, which is its last argument.
func (o *object) read(name string, data []byte, arguments ...uint64) error {
	return o.fillWith(name, data, arguments)
}

// readSized is read where the size of the struct comes last.
func (o *object) readSized(name string, data []byte, arguments ...uint64) error {
	return o.fillWith(name, data, arguments, uint64(len(data)))
}

func (o *object) fillWith(name string, data []byte, before []uint64, after ...uint64) error {
	if err := o.lock(); err != nil {
		return err
	}
	defer o.in.mutex.Unlock()
	arguments := append([]uint64{uint64(o.handle)}, before...)
	result := o.in.named(name, append(append(arguments, o.in.put(data)), after...)...)
	o.in.get(data)
	return o.in.failure(result)
}

func (o *object) nextTimeout(f function, closed int64) int64 {
	if o.lock() != nil {
		return closed
	}
	defer o.in.mutex.Unlock()
	return int64(o.in.invoke(o.in.functions[f], uint64(o.handle)))
}

func (o *object) setObjective(name string, throughput, latency, loss float32) error {
	return o.call(name, api.EncodeF32(throughput), api.EncodeF32(latency), api.EncodeF32(loss))
}

// Text is the string of a reason; "" for none.
func (o *object) Text(t text) string {
	if o.lock() != nil {
		return ""
	}
	defer o.in.mutex.Unlock()
	return o.in.text(uint32(t))
}

// Estimator is a weir_estimator.
type Estimator struct{ object }

// NewEstimator makes one.
func NewEstimator(config Config) (Estimator, error) {
	o, err := config.create(func(in *instance, controller, c, result uint64) uint64 {
		return in.named("weir_estimator_create", controller, c, result)
	})
	return Estimator{o}, err
}

// Close frees it.
func (e *Estimator) Close() { e.destroy("weir_estimator_destroy") }

// OnPacket is weir_estimator_on_packet.
func (e *Estimator) OnPacket(packet *Packet) error {
	if err := e.lock(); err != nil {
		return err
	}
	defer e.in.mutex.Unlock()
	return e.in.failure(e.in.invoke(e.in.functions[estimatorOnPacket], uint64(e.handle), e.in.put(bytesOf(packet))))
}

// RemoveStream is weir_estimator_remove_stream.
func (e *Estimator) RemoveStream(ssrc uint32) error {
	return e.call("weir_estimator_remove_stream", uint64(ssrc))
}

// NextTimeoutUs is weir_estimator_next_timeout_us.
func (e *Estimator) NextTimeoutUs() int64 { return e.nextTimeout(estimatorNextTimeout, math.MinInt64) }

// OmitsLosses is weir_estimator_omits_losses.
func (e *Estimator) OmitsLosses() bool {
	if e.lock() != nil {
		return false
	}
	defer e.in.mutex.Unlock()
	return e.in.invoke(e.in.functions[estimatorOmitsLosses], uint64(e.handle)) != 0
}

// OnTimeout is weir_estimator_on_timeout; the bits of its result.
func (e *Estimator) OnTimeout(nowUs int64, estimate *Estimate) (int, error) {
	if err := e.lock(); err != nil {
		return 0, err
	}
	defer e.in.mutex.Unlock()
	at := e.in.put(bytesOf(estimate))
	result := e.in.invoke(e.in.functions[estimatorOnTimeout], uint64(e.handle), uint64(nowUs), at)
	e.in.get(bytesOf(estimate))
	return max(0, int(int32(result))), e.in.failure(result)
}

// Estimate is weir_estimator_get_estimate.
func (e *Estimator) Estimate(estimate *Estimate) error {
	return e.read("weir_estimator_get_estimate", bytesOf(estimate))
}

// WriteREMB is weir_estimator_write_remb.
func (e *Estimator) WriteREMB(senderSSRC uint32, buffer []byte) (int, error) {
	if err := e.lock(); err != nil {
		return 0, err
	}
	defer e.in.mutex.Unlock()
	at := e.in.put(buffer)
	size := e.in.named("weir_estimator_write_remb", uint64(e.handle), uint64(senderSSRC), at, uint64(len(buffer)))
	e.in.get(buffer)
	return max(0, int(int32(size))), e.in.failure(size)
}

// SetObjective is weir_estimator_set_objective.
func (e *Estimator) SetObjective(throughput, latency, loss float32) error {
	return e.setObjective("weir_estimator_set_objective", throughput, latency, loss)
}

// SetConstraints is weir_estimator_set_constraints.
func (e *Estimator) SetConstraints(constraints *Constraints, nowUs int64) error {
	return e.write("weir_estimator_set_constraints", bytesOf(constraints), uint64(nowUs))
}

// Statistics is weir_estimator_get_statistics.
func (e *Estimator) Statistics(nowUs int64, statistics *Statistics) error {
	return e.readSized("weir_estimator_get_statistics", bytesOf(statistics), uint64(nowUs))
}

// SendSide is a weir_send_side.
type SendSide struct{ object }

// NewSendSide makes one.
func NewSendSide(config Config, pacingFactor float64) (SendSide, error) {
	o, err := config.create(func(in *instance, controller, c, result uint64) uint64 {
		return in.named("weir_send_side_create", controller, c, api.EncodeF64(pacingFactor), result)
	})
	return SendSide{o}, err
}

// Close frees it.
func (s *SendSide) Close() { s.destroy("weir_send_side_destroy") }

// OnSentPacket is weir_send_side_on_sent_packet.
func (s *SendSide) OnSentPacket(packet *SentPacket) error {
	if err := s.lock(); err != nil {
		return err
	}
	defer s.in.mutex.Unlock()
	return s.in.failure(s.in.invoke(s.in.functions[sendSideOnSentPacket], uint64(s.handle), s.in.put(bytesOf(packet))))
}

// OnTransportFeedback is weir_send_side_on_transport_feedback.
func (s *SendSide) OnTransportFeedback(feedback []PacketFeedback, nowUs int64) error {
	if err := s.lock(); err != nil {
		return err
	}
	defer s.in.mutex.Unlock()
	at := s.in.put(bytesOfAll(feedback))
	return s.in.failure(s.in.invoke(
		s.in.functions[sendSideOnTransportFeedback], uint64(s.handle), at, uint64(len(feedback)), uint64(nowUs)))
}

// NextTimeoutUs is weir_send_side_next_timeout_us.
func (s *SendSide) NextTimeoutUs() int64 { return s.nextTimeout(sendSideNextTimeout, math.MaxInt64) }

// OnTimeout is weir_send_side_on_timeout.
func (s *SendSide) OnTimeout(nowUs int64) error {
	return s.call("weir_send_side_on_timeout", uint64(nowUs))
}

// OnRoundTripTime is weir_send_side_on_round_trip_time.
func (s *SendSide) OnRoundTripTime(us, nowUs int64) error {
	return s.call("weir_send_side_on_round_trip_time", uint64(us), uint64(nowUs))
}

// fill is read for what a host calls often.
func (s *SendSide) fill(f function, data []byte) error {
	if err := s.lock(); err != nil {
		return err
	}
	defer s.in.mutex.Unlock()
	at := s.in.put(data)
	result := s.in.invoke(s.in.functions[f], uint64(s.handle), at)
	s.in.get(data)
	return s.in.failure(result)
}

// Rates is weir_send_side_get_rates.
func (s *SendSide) Rates(rates *Rates) error { return s.fill(sendSideGetRates, bytesOf(rates)) }

// SetDesiredRate is weir_send_side_set_desired_rate.
func (s *SendSide) SetDesiredRate(totalBps, nextBps int64) error {
	return s.call("weir_send_side_set_desired_rate", uint64(totalBps), uint64(nextBps))
}

// TakeProbeCluster is weir_send_side_take_probe_cluster.
func (s *SendSide) TakeProbeCluster(cluster *ProbeCluster) error {
	return s.fill(sendSideTakeProbeCluster, bytesOf(cluster))
}

// NetworkState is weir_send_side_get_network_state.
func (s *SendSide) NetworkState(state *NetworkState) error {
	return s.read("weir_send_side_get_network_state", bytesOf(state))
}

// SetObjective is weir_send_side_set_objective.
func (s *SendSide) SetObjective(throughput, latency, loss float32) error {
	return s.setObjective("weir_send_side_set_objective", throughput, latency, loss)
}

// SetConstraints is weir_send_side_set_constraints.
func (s *SendSide) SetConstraints(constraints *Constraints, nowUs int64) error {
	return s.write("weir_send_side_set_constraints", bytesOf(constraints), uint64(nowUs))
}

// Statistics is weir_send_side_get_statistics.
func (s *SendSide) Statistics(statistics *Statistics) error {
	return s.readSized("weir_send_side_get_statistics", bytesOf(statistics))
}

// Counters is weir_send_side_get_counters.
func (s *SendSide) Counters(counters *SendSideCounters) error {
	return s.readSized("weir_send_side_get_counters", bytesOf(counters))
}

// LayerAllocator is a weir_layer_allocator.
type LayerAllocator struct{ object }

// NewLayerAllocator makes one.
func NewLayerAllocator(margin float64, waitUs int64) (LayerAllocator, error) {
	in, err := enter()
	if err != nil {
		return LayerAllocator{}, err
	}
	defer in.mutex.Unlock()
	at := uint64(in.reserve(8))
	handle, err := in.created(at, in.named("weir_layer_allocator_create", api.EncodeF64(margin), uint64(waitUs), at))
	return LayerAllocator{object{in, handle}}, err
}

// Close frees it.
func (l *LayerAllocator) Close() { l.destroy("weir_layer_allocator_destroy") }

// SetStreams is weir_layer_allocator_set_streams.
func (l *LayerAllocator) SetStreams(streams []MediaStream) error {
	if err := l.lock(); err != nil {
		return err
	}
	defer l.in.mutex.Unlock()
	at := l.in.put(bytesOfAll(streams))
	return l.in.failure(l.in.named("weir_layer_allocator_set_streams", uint64(l.handle), at, uint64(len(streams))))
}

// Allocate is weir_layer_allocator_allocate.
func (l *LayerAllocator) Allocate(targetRateBps, nowUs int64, allocations []LayerAllocation) error {
	if err := l.lock(); err != nil {
		return err
	}
	defer l.in.mutex.Unlock()
	data := bytesOfAll(allocations)
	at := l.in.put(data)
	result := l.in.invoke(l.in.functions[layerAllocatorAllocate],
		uint64(l.handle), uint64(targetRateBps), uint64(nowUs), at, uint64(len(allocations)))
	l.in.get(data)
	return l.in.failure(result)
}

// Rates is weir_layer_allocator_get_rates.
func (l *LayerAllocator) Rates(rates *LayerRates) error {
	return l.read("weir_layer_allocator_get_rates", bytesOf(rates))
}
