//! The functions and structs of `estimator/c/weir.h` that the crate uses. A test compares them with the header.
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

#[repr(C)]
pub struct EstimatorConfig {
    pub min_rate_bps: i64,
    pub start_rate_bps: i64,
    pub max_rate_bps: i64,
    pub objective_throughput: f32,
    pub objective_latency: f32,
    pub objective_loss: f32,
    pub guard: i32,
    pub clock: Option<unsafe extern "C" fn(*mut c_void) -> i64>,
    pub clock_argument: *mut c_void,
    pub decision_limit_us: i64,
    pub log: Option<unsafe extern "C" fn(*mut c_void, c_int, *const c_char)>,
    pub log_argument: *mut c_void,
}

#[repr(C)]
pub struct SentPacket {
    pub send_time_us: i64,
    pub size_bytes: u32,
    pub sequence_number: u16,
    pub kind: u16,
    pub probe_cluster_id: i32,
}

/// A report on one packet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PacketFeedback {
    receive_time_us: i64,
    sequence_number: u16,
    fate: u16,
}

impl PacketFeedback {
    /// The time is the receiver's, whose origin does not matter.
    pub fn received(sequence_number: u16, receive_time_us: i64) -> Self {
        Self { receive_time_us, sequence_number, fate: 0 }
    }

    pub fn lost(sequence_number: u16) -> Self {
        Self { receive_time_us: 0, sequence_number, fate: 1 }
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

#[rustfmt::skip]
unsafe extern "C" {
    pub fn weir_last_error() -> *const c_char;
    pub fn weir_model_load(onnx: *const c_void, size_bytes: usize, out: *mut *mut Model) -> c_int;
    pub fn weir_model_destroy(it: *mut Model);
    pub fn weir_controller_create_policy(model: *const Model, worker: c_int, out: *mut *mut Controller) -> c_int;
    pub fn weir_controller_destroy(it: *mut Controller);
    pub fn weir_estimator_default_config() -> EstimatorConfig;
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
    pub fn weir_send_side_set_constraints(it: *mut SendSide, min_bps: i64, start_bps: i64, max_bps: i64,
        now_us: i64) -> c_int;
    pub fn weir_send_side_on_round_trip_time(it: *mut SendSide, round_trip_time_us: i64, now_us: i64) -> c_int;
    pub fn weir_send_side_get_counters(it: *const SendSide, counters: *mut Counters) -> c_int;
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
            .arg(concat!("-I", env!("WEIR_INCLUDE")))
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
            layout!("weir_estimator_config", EstimatorConfig, min_rate_bps start_rate_bps max_rate_bps
                objective_throughput objective_latency objective_loss guard clock clock_argument decision_limit_us
                log log_argument),
            layout!("weir_sent_packet", SentPacket, send_time_us size_bytes sequence_number kind
                probe_cluster_id),
            layout!("weir_packet_feedback", PacketFeedback, receive_time_us sequence_number fate),
            layout!("weir_send_side_rates", Rates, at_time_us target_rate_bps pacing_rate_bps
                congestion_window_bytes reason),
            layout!("weir_send_side_counters", Counters, packets_received packets_lost packets_fate_unknown
                reports_duplicate reports_not_in_history packets_invalid arrivals_late clock_restarts
                probe_clusters probes_carried probes_limited probe_bytes),
        ];
        assert_eq!(compile(&layouts.concat()), Ok(()));
        assert!(compile("_Static_assert(sizeof(weir_sent_packet) == 32, \"size\");").is_err());
    }

    /// C refuses a second declaration that differs.
    #[test]
    fn functions_have_the_types_of_the_header() {
        let prototypes = "
            typedef weir_send_side it; typedef int64_t us;
            const char* weir_last_error(void); weir_estimator_config weir_estimator_default_config(void);
            int weir_model_load(const void*, size_t, weir_model**); void weir_model_destroy(weir_model*);
            int weir_controller_create_policy(const weir_model*, int, weir_controller**);
            void weir_controller_destroy(weir_controller*); void weir_send_side_destroy(it*);
            int weir_send_side_create(const weir_controller*, const weir_estimator_config*, double, it**);
            int weir_send_side_on_sent_packet(it*, const weir_sent_packet*);
            us weir_send_side_next_timeout_us(const it*);
            int weir_send_side_on_transport_feedback(it*, const weir_packet_feedback*, size_t, us);
            int weir_send_side_on_timeout(it*, us); int weir_send_side_get_rates(const it*, weir_send_side_rates*);
            int weir_send_side_set_objective(it*, float, float, float);
            int weir_send_side_set_constraints(it*, int64_t, int64_t, int64_t, us);
            int weir_send_side_on_round_trip_time(it*, us, us);
            int weir_send_side_get_counters(const it*, weir_send_side_counters*);
            _Static_assert(WEIR_PACKET_RECEIVED == 0 && WEIR_PACKET_LOST == 1 && WEIR_PACKET_VIDEO == 0, \"enums\");";
        assert_eq!(compile(prototypes), Ok(()));
        assert!(compile("int weir_model_destroy(weir_model*);").is_err());
    }
}
