//! The functions and structs of `estimator/c/weir.h` that the crate uses. A test compares them with the header.
// Written by hand: bindgen 0.73 needs libclang wherever the crate is built, or 324 generated lines in place of the 229
// above the tests; its packet kinds are integers, and these structs are also the crate's documented types.
use std::ffi::{c_char, c_int, c_void};
use std::marker::{PhantomData, PhantomPinned};

/// A handle of the library: not Send, Sync or Unpin by itself.
#[repr(C)]
pub struct Opaque<const KIND: u8> {
    data: [u8; 0],
    marker: PhantomData<(*mut u8, PhantomPinned)>,
}
pub type Model = Opaque<0>;
pub type Controller = Opaque<1>;
pub type SendSide = Opaque<2>;
pub type LayerAllocator = Opaque<3>;
pub type Repair = Opaque<4>;

/// Bounds of every rate.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetRateConstraints {
    pub min_rate_bps: i64,
    pub start_rate_bps: i64,
    /// One receiver, whose feedback may be false, can cost you as much.
    pub max_rate_bps: i64,
    /// The most that the media use; 0: unknown. Only under loss is the rate higher, up to twice that: for
    /// retransmissions and FEC.
    pub max_media_rate_bps: i64,
}

#[repr(C)]
pub struct EstimatorConfig {
    pub size_bytes: usize,
    pub constraints: TargetRateConstraints,
    pub objective_throughput: f32,
    pub objective_latency: f32,
    pub objective_loss: f32,
    pub guard: i32,
    pub guard_off: u64,
    pub clock: Option<unsafe extern "C" fn(*mut c_void) -> i64>,
    pub clock_argument: *mut c_void,
    pub decision_limit_us: i64,
    pub log: Option<unsafe extern "C" fn(*mut c_void, c_int, *const c_char)>,
    pub log_argument: *mut c_void,
}

impl Default for EstimatorConfig {
    fn default() -> Self {
        let mut config = std::mem::MaybeUninit::uninit();
        // SAFETY: the function writes so many bytes, all of the struct.
        unsafe {
            weir_estimator_config_init(config.as_mut_ptr(), size_of::<Self>());
            config.assume_init()
        }
    }
}

/// The contents of a packet or a stream.
#[repr(u16)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketKind {
    #[default]
    Video,
    Audio,
    /// Also padding alone.
    Probe,
    Retransmission,
}

/// A packet as it leaves.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentPacket {
    pub send_time_us: i64,
    /// The rates count these, for example with IP and UDP; at most 65535.
    pub size_bytes: u32,
    /// Transport-wide.
    pub sequence_number: u16,
    pub kind: PacketKind,
    /// 0: of no probe cluster.
    pub probe_cluster_id: i32,
}

/// A report on one packet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PacketFeedback {
    receive_time_us: i64,
    sequence_number: u16,
    fate: u16,
    ecn: u32,
}

impl PacketFeedback {
    /// The time is the receiver's, whose origin does not matter.
    pub fn received(sequence_number: u16, receive_time_us: i64) -> Self {
        Self { receive_time_us, sequence_number, fate: 0, ecn: 0 }
    }

    pub fn lost(sequence_number: u16) -> Self {
        Self { receive_time_us: 0, sequence_number, fate: 1, ecn: 0 }
    }
}

#[repr(C)]
pub struct Rates {
    pub at_time_us: i64,
    pub target_rate_bps: i64,
    pub pacing_rate_bps: i64,
    pub congestion_window_bytes: i64,
    pub reason: *const c_char,
}

/// Counts since creation; `weir_send_side_counters` of `weir.h` describes them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub packets_received: u64,
    pub packets_lost: u64,
    pub packets_fate_unknown: u64,
    pub reports_duplicate: u64,
    pub reports_not_in_history: u64,
    pub packets_invalid: u64,
    pub arrivals_late: u64,
    pub clock_restarts: u64,
    pub probe_clusters: u64,
    pub probes_carried: u64,
    pub probes_limited: u64,
    pub probe_bytes: u64,
}

/// A burst that shows what the path carries: at least `target_probe_count` packets of about the same size, sent evenly
/// within `target_duration_us` at `target_data_rate_bps`. Media counts; padding and retransmissions fill up.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeClusterConfig {
    pub target_data_rate_bps: i64,
    pub target_duration_us: i64,
    pub target_probe_count: i32,
    /// Above 0.
    pub id: i32,
}

#[repr(C)]
#[derive(Default)]
pub struct NetworkState {
    pub at_time_us: i64,
    pub link_capacity_bps: i64,
    pub state: i32,
}

/// A simulcast or SVC layer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaLayer {
    /// Rate of the whole stream when this is its highest forwarded layer; above 0.
    pub rate_bps: i64,
    /// In pixels, at least 0; for reports, as is the height.
    pub width: i32,
    pub height: i32,
}

pub const MAX_MEDIA_STREAMS: usize = 64;
pub const MAX_MEDIA_LAYERS: usize = 12;

#[repr(C)]
pub struct MediaStream {
    pub id: u32,
    pub kind: u32,
    pub priority: i32,
    pub may_pause: i32,
    pub layer_count: usize,
    pub layers: [MediaLayer; MAX_MEDIA_LAYERS],
}

#[repr(C)]
pub struct LayerAllocation {
    pub id: u32,
    pub layer: i32,
    pub forwarded: MediaLayer,
    pub reason: *const c_char,
    pub at_time_us: i64,
}

/// Rates of a [`LayerAllocator`](crate::LayerAllocator).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerRates {
    /// Sum of the layers that are forwarded.
    pub allocated_rate_bps: i64,
    /// Target that all layers need, for `set_desired_rate`.
    pub desired_rate_bps: i64,
    /// Smallest target that, if it lasts, adds a layer, for `set_desired_rate`; 0 when there is nothing to add.
    pub next_rate_bps: i64,
}

#[rustfmt::skip]
unsafe extern "C" {
    pub fn weir_last_error() -> *const c_char;
    pub fn weir_model_load(onnx: *const c_void, size_bytes: usize, out: *mut *mut Model) -> c_int;
    pub fn weir_model_load_shipped(out: *mut *mut Model) -> c_int;
    pub fn weir_model_destroy(it: *mut Model);
    pub fn weir_controller_create_policy(model: *const Model, worker: c_int, out: *mut *mut Controller) -> c_int;
    pub fn weir_controller_destroy(it: *mut Controller);
    pub fn weir_estimator_config_init(config: *mut EstimatorConfig, size_bytes: usize);
    pub fn weir_send_side_create(controller: *const Controller, config: *const EstimatorConfig, pacing_factor: f64,
        out: *mut *mut SendSide) -> c_int;
    pub fn weir_send_side_destroy(it: *mut SendSide);
    pub fn weir_send_side_on_sent_packet(it: *mut SendSide, packet: *const SentPacket) -> c_int;
    pub fn weir_send_side_on_transport_feedback(it: *mut SendSide, feedback: *const PacketFeedback, count: usize,
        now_us: i64) -> c_int;
    pub fn weir_send_side_next_timeout_us(it: *const SendSide) -> i64;
    pub fn weir_send_side_on_timeout(it: *mut SendSide, now_us: i64) -> c_int;
    pub fn weir_send_side_get_rates(it: *const SendSide, rates: *mut Rates) -> c_int;
    pub fn weir_send_side_set_objective(it: *mut SendSide, throughput: f32, latency: f32, loss: f32) -> c_int;
    pub fn weir_send_side_set_constraints(it: *mut SendSide, constraints: *const TargetRateConstraints,
        now_us: i64) -> c_int;
    pub fn weir_send_side_on_round_trip_time(it: *mut SendSide, round_trip_time_us: i64, now_us: i64) -> c_int;
    pub fn weir_send_side_get_counters(it: *const SendSide, counters: *mut Counters, size_bytes: usize) -> c_int;
    pub fn weir_send_side_set_desired_rate(it: *mut SendSide, total_bps: i64, next_bps: i64) -> c_int;
    pub fn weir_send_side_take_probe_cluster(it: *mut SendSide, cluster: *mut ProbeClusterConfig) -> c_int;
    pub fn weir_send_side_get_network_state(it: *const SendSide, state: *mut NetworkState) -> c_int;
    pub fn weir_layer_allocator_create(margin: f64, wait_us: i64, out: *mut *mut LayerAllocator) -> c_int;
    pub fn weir_layer_allocator_destroy(it: *mut LayerAllocator);
    pub fn weir_layer_allocator_set_streams(it: *mut LayerAllocator, streams: *const MediaStream,
        count: usize) -> c_int;
    pub fn weir_layer_allocator_allocate(it: *mut LayerAllocator, target_rate_bps: i64, now_us: i64,
        allocations: *mut LayerAllocation, capacity: usize) -> c_int;
    pub fn weir_layer_allocator_get_rates(it: *const LayerAllocator, rates: *mut LayerRates) -> c_int;
    pub fn weir_repair_create(out: *mut *mut Repair) -> c_int;
    pub fn weir_repair_destroy(it: *mut Repair);
    pub fn weir_repair_choose_at_sender(it: *mut Repair, rate_bps: i64, round_trip_us: i64, loss_ratio: f64,
        feedback_loss_ratio: f64, now_us: i64) -> c_int;
    pub fn weir_max_playout_delay_us(jitter_us: i64, round_trip_time_us: i64, frame_interval_us: i64,
        previous_us: i64) -> i64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::mem::offset_of;
    use std::process::{Command, Stdio};

    /// The sizes and offsets of a struct as assertions in C.
    macro_rules! layout {
        ($c:literal, $rust:ty, $($field:ident)*) => {
            format!("_Static_assert(sizeof({}) == {}, \"size\");\n", $c, size_of::<$rust>())
                $(+ &format!("_Static_assert(offsetof({}, {}) == {}, \"{1}\");\n",
                    $c, stringify!($field), offset_of!($rust, $field)))*
        };
    }

    /// Compiles `code` after the header, or returns the compiler's messages.
    fn compile(code: &str) -> Result<(), String> {
        let mut cc = Command::new(std::env::var("CC").unwrap_or("cc".into()))
            .args(["-std=c11", "-Werror", "-fsyntax-only", "-x", "c", "-"])
            .arg(concat!("-I", env!("CARGO_MANIFEST_DIR")))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a C compiler");
        let text = format!("#include <weir.h>\n{code}");
        cc.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let done = cc.wait_with_output().unwrap();
        if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into()) }
    }

    #[test]
    fn structs_have_the_layout_of_the_header() {
        let layouts = [
            layout!("weir_target_rate_constraints", TargetRateConstraints, min_rate_bps start_rate_bps max_rate_bps
                max_media_rate_bps),
            layout!("weir_estimator_config", EstimatorConfig, size_bytes constraints objective_throughput objective_latency
                objective_loss guard guard_off clock clock_argument decision_limit_us log log_argument),
            layout!("weir_sent_packet", SentPacket, send_time_us size_bytes sequence_number kind
                probe_cluster_id),
            layout!("weir_packet_feedback", PacketFeedback, receive_time_us sequence_number fate ecn),
            layout!("weir_send_side_rates", Rates, at_time_us target_rate_bps pacing_rate_bps
                congestion_window_bytes reason),
            layout!("weir_send_side_counters", Counters, packets_received packets_lost packets_fate_unknown
                reports_duplicate reports_not_in_history packets_invalid arrivals_late clock_restarts
                probe_clusters probes_carried probes_limited probe_bytes),
            layout!("weir_probe_cluster", ProbeClusterConfig, target_data_rate_bps target_duration_us
                target_probe_count id),
            layout!("weir_network_state", NetworkState, at_time_us link_capacity_bps state),
            layout!("weir_media_layer", MediaLayer, rate_bps width height),
            layout!("weir_media_stream", MediaStream, id kind priority may_pause layer_count layers),
            layout!("weir_layer_allocation", LayerAllocation, id layer forwarded reason at_time_us),
            layout!("weir_layer_rates", LayerRates, allocated_rate_bps desired_rate_bps next_rate_bps),
        ];
        assert_eq!(compile(&layouts.concat()), Ok(()));
        assert!(compile("_Static_assert(sizeof(weir_sent_packet) == 32, \"size\");").is_err());
    }

    /// C refuses a second declaration that differs.
    #[test]
    fn functions_have_the_types_of_the_header() {
        let prototypes = "
            typedef weir_send_side it; typedef int64_t us; typedef weir_layer_allocator layers;
            const char* weir_last_error(void); void weir_estimator_config_init(weir_estimator_config*, size_t);
            int weir_model_load(const void*, size_t, weir_model**); void weir_model_destroy(weir_model*);
            int weir_model_load_shipped(weir_model**);
            int weir_controller_create_policy(const weir_model*, int, weir_controller**);
            void weir_controller_destroy(weir_controller*); void weir_send_side_destroy(it*);
            int weir_send_side_create(const weir_controller*, const weir_estimator_config*, double, it**);
            int weir_send_side_on_sent_packet(it*, const weir_sent_packet*);
            us weir_send_side_next_timeout_us(const it*);
            int weir_send_side_on_transport_feedback(it*, const weir_packet_feedback*, size_t, us);
            int weir_send_side_on_timeout(it*, us); int weir_send_side_get_rates(const it*, weir_send_side_rates*);
            int weir_send_side_set_objective(it*, float, float, float);
            int weir_send_side_set_constraints(it*, const weir_target_rate_constraints*, us);
            int weir_send_side_on_round_trip_time(it*, us, us);
            int weir_send_side_get_counters(const it*, weir_send_side_counters*, size_t);
            int weir_send_side_set_desired_rate(it*, int64_t, int64_t);
            int weir_send_side_take_probe_cluster(it*, weir_probe_cluster*);
            int weir_send_side_get_network_state(const it*, weir_network_state*);
            int weir_layer_allocator_create(double, us, layers**); void weir_layer_allocator_destroy(layers*);
            int weir_layer_allocator_set_streams(layers*, const weir_media_stream*, size_t);
            int weir_layer_allocator_allocate(layers*, int64_t, us, weir_layer_allocation*, size_t);
            int weir_layer_allocator_get_rates(const layers*, weir_layer_rates*);
            int weir_repair_create(weir_repair**); void weir_repair_destroy(weir_repair*);
            int weir_repair_choose_at_sender(weir_repair*, int64_t, us, double, double, us);
            us weir_max_playout_delay_us(us, us, us, us);
            _Static_assert(WEIR_REPAIR_NONE == 0 && WEIR_REPAIR_NACK == 1 && WEIR_REPAIR_FEC == 2
                && WEIR_MIN_PLAYOUT_DELAY_US == 10000, \"repair\");
            _Static_assert(WEIR_PACKET_RECEIVED == 0 && WEIR_PACKET_LOST == 1, \"fates\");
            _Static_assert(WEIR_PACKET_VIDEO == 0 && WEIR_PACKET_AUDIO == 1 && WEIR_PACKET_PROBE == 2
                && WEIR_PACKET_RETRANSMISSION == 3, \"kinds\");
            _Static_assert(WEIR_CONGESTION_NORMAL == 0 && WEIR_CONGESTION_EARLY_WARNING == 1
                && WEIR_CONGESTION_CONGESTED == 2, \"states\");
            _Static_assert(WEIR_MAX_MEDIA_STREAMS == 64 && WEIR_MAX_MEDIA_LAYERS == 12, \"limits\");";
        assert_eq!(compile(prototypes), Ok(()));
        assert!(compile("int weir_model_destroy(weir_model*);").is_err());
    }
}
