//! Weir at the sender: a safe wrapper of `weir.h`, with [`Model`], [`SendSideEstimator`], [`Repair`] and, for servers
//! that forward layers, [`LayerAllocator`]. With the feature `webrtc-rs`, `Estimator` replaces the `Gcc` of
//! [webrtc-rs](https://webrtc.rs).
//!
//! Times are microseconds of one monotonic clock, rates bits per second. Only `Model::load` reads a
//! clock; nothing opens a socket.
#[cfg(feature = "webrtc-rs")]
mod estimator;
mod ffi;
mod layers;
mod repair;

#[cfg(feature = "webrtc-rs")]
pub use estimator::Estimator;
pub use ffi::{Counters, LayerRates, MAX_MEDIA_LAYERS, MAX_MEDIA_STREAMS, MediaLayer};
pub use ffi::{PacketFeedback, PacketKind, ProbeClusterConfig, SentPacket, TargetRateConstraints};
pub use layers::{LayerAllocation, LayerAllocator, MediaStream};
pub use repair::{MIN_PLAYOUT_DELAY_US, Repair, RepairChoice, max_playout_delay_us};

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::{error, fmt};

/// A call that failed: a `weir_error` of `weir.h`, below 0, and a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: i32,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "weir: {} ({})", self.message, self.code)
    }
}

impl error::Error for Error {}

/// Call it on the thread of the call that returned `code`, since the message is the thread's.
fn check(code: c_int) -> Result<(), Error> {
    if code >= 0 {
        return Ok(());
    }
    // SAFETY: the library returns a string that lives until the thread's next failed call.
    let message = unsafe { text(ffi::weir_last_error()) }.to_owned();
    Err(Error { code, message })
}

/// # Safety
/// `string` is terminated and lives as long as the result is used.
unsafe fn text<'a>(string: *const c_char) -> &'a str {
    unsafe { CStr::from_ptr(string) }.to_str().unwrap_or_default()
}

/// The handle that a function of the library has made.
fn created<T>(create: impl FnOnce(*mut *mut T) -> c_int) -> Result<NonNull<T>, Error> {
    let mut handle = ptr::null_mut();
    check(create(&mut handle))?;
    Ok(NonNull::new(handle).expect("a handle after success"))
}

/// A checked policy (ONNX) for any number of estimators, which may outlive it. A clone is the same model.
#[derive(Clone)]
pub struct Model(Arc<ModelHandle>);

struct ModelHandle(NonNull<ffi::Model>);

// SAFETY: any number of threads may use a weir_model at once, and the last owner destroys it.
unsafe impl Send for ModelHandle {}
unsafe impl Sync for ModelHandle {}

impl Drop for ModelHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is not used again.
        unsafe { ffi::weir_model_destroy(self.0.as_ptr()) }
    }
}

impl Model {
    /// Takes milliseconds; creating an estimator takes microseconds.
    pub fn load(onnx: &[u8]) -> Result<Self, Error> {
        // SAFETY: the library reads `onnx` during the call alone.
        let handle = created(|out| unsafe { ffi::weir_model_load(onnx.as_ptr().cast(), onnx.len(), out) })?;
        Ok(Self(Arc::new(ModelHandle(handle))))
    }

    /// The model that comes with Weir, which is a part of the library.
    pub fn shipped() -> Result<Self, Error> {
        // SAFETY: the function has no other precondition than a place for the handle.
        let handle = created(|out| unsafe { ffi::weir_model_load_shipped(out) })?;
        Ok(Self(Arc::new(ModelHandle(handle))))
    }
}

/// Bounds and weights of an estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    pub constraints: TargetRateConstraints,
    /// Weights of throughput, latency and loss, each above 0.
    pub objective: [f32; 3],
}

impl Default for TargetRateConstraints {
    fn default() -> Self {
        ffi::EstimatorConfig::default().constraints
    }
}

impl Default for Config {
    fn default() -> Self {
        let config = ffi::EstimatorConfig::default();
        Self {
            constraints: config.constraints,
            objective: [config.objective_throughput, config.objective_latency, config.objective_loss],
        }
    }
}

/// The library's own factor: pacing at 1.1 times the target.
const DEFAULT_PACING: f64 = 0.0;

/// The rates in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    pub target_bps: i64,
    pub pacing_bps: i64,
    /// `i64::MAX` before the first feedback.
    pub congestion_window_bytes: i64,
    /// Such as "controller" or "guard_stale", see `weir_estimate` of `weir.h`.
    pub reason: &'static str,
}

/// Congestion of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    Normal,
    /// A queue has begun: do not send more.
    EarlyWarning,
    /// The path carries less than is sent: send less.
    Congested,
}

/// The state of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkState {
    pub state: CongestionState,
    /// By the clock of the arrivals; None until a state is known, after half a second.
    pub at_time_us: Option<i64>,
    /// The target when the state began; what arrives while a queue or losses congest the path. 0 until a state
    /// is known.
    pub link_capacity_bps: i64,
}

/// Weir at the sender, from sent packets and transport-wide feedback. `docs/send_side.md` has the contract of the host.
pub struct SendSideEstimator {
    handle: NonNull<ffi::SendSide>,
}

// SAFETY: a weir_send_side is bound to no thread. It is not Sync, since calls on one must not overlap.
unsafe impl Send for SendSideEstimator {}

impl Drop for SendSideEstimator {
    fn drop(&mut self) {
        // SAFETY: the handle is not used again.
        unsafe { ffi::weir_send_side_destroy(self.handle.as_ptr()) }
    }
}

// SAFETY, of all calls below: the handle is valid until drop(), &mut self keeps calls apart, other pointers are valid
// during the call.
impl SendSideEstimator {
    pub fn new(model: &Model, config: &Config) -> Result<Self, Error> {
        let [objective_throughput, objective_latency, objective_loss] = config.objective;
        let c = ffi::EstimatorConfig {
            constraints: config.constraints,
            objective_throughput,
            objective_latency,
            objective_loss,
            ..ffi::EstimatorConfig::default()
        };
        let policy = created(|out| unsafe { ffi::weir_controller_create_policy(model.0.0.as_ptr(), 0, out) })?;
        let made = created(|out| unsafe { ffi::weir_send_side_create(policy.as_ptr(), &c, DEFAULT_PACING, out) });
        unsafe { ffi::weir_controller_destroy(policy.as_ptr()) };
        Ok(Self { handle: made? })
    }

    /// In the order of sequence numbers. Other packets, and those of an impossible size, are counted as invalid.
    pub fn on_sent_packet(&mut self, packet: &SentPacket) -> Result<(), Error> {
        check(unsafe { ffi::weir_send_side_on_sent_packet(self.handle.as_ptr(), packet) })
    }

    /// One feedback message, in the order of sequence numbers. Invalid reports are counted.
    pub fn on_transport_feedback(&mut self, feedback: &[PacketFeedback], now_us: i64) -> Result<(), Error> {
        let (handle, packets) = (self.handle.as_ptr(), feedback.as_ptr());
        check(unsafe { ffi::weir_send_side_on_transport_feedback(handle, packets, feedback.len(), now_us) })
    }

    /// When to call [`on_timeout`](Self::on_timeout) next; None before the first packet and in a pause.
    pub fn next_timeout_us(&self) -> Option<i64> {
        let time = unsafe { ffi::weir_send_side_next_timeout_us(self.handle.as_ptr()) };
        (time != i64::MAX).then_some(time)
    }

    pub fn on_timeout(&mut self, now_us: i64) -> Result<(), Error> {
        check(unsafe { ffi::weir_send_side_on_timeout(self.handle.as_ptr(), now_us) })
    }

    /// Any call that feeds or configures the estimator may have changed them.
    pub fn rates(&self) -> Rates {
        let mut rates: ffi::Rates = unsafe { std::mem::zeroed() };
        // It fails for null pointers alone.
        unsafe { ffi::weir_send_side_get_rates(self.handle.as_ptr(), &mut rates) };
        Rates {
            target_bps: rates.target_rate_bps,
            pacing_bps: rates.pacing_rate_bps,
            congestion_window_bytes: rates.congestion_window_bytes,
            // Reasons are in static storage.
            reason: unsafe { text(rates.reason) },
        }
    }

    /// For media in layers, which sends less than the target until another layer fits: the targets for all layers, above
    /// 0, and for one layer more, 0 if any more is welcome. From the first call on the host sends the clusters of
    /// [`take_probe_cluster`](Self::take_probe_cluster), and the target is no more than the path has shown to carry.
    pub fn set_desired_rate(&mut self, total_bps: i64, next_bps: i64) -> Result<(), Error> {
        check(unsafe { ffi::weir_send_side_set_desired_rate(self.handle.as_ptr(), total_bps, next_bps) })
    }

    /// A cluster that has become due, once each; call it after feedback and timeouts. Send it at once, its packets with
    /// its id. After a second without its feedback it is given up.
    pub fn take_probe_cluster(&mut self) -> Option<ProbeClusterConfig> {
        let mut cluster = ProbeClusterConfig::default();
        // It fails for null pointers alone.
        unsafe { ffi::weir_send_side_take_probe_cluster(self.handle.as_ptr(), &mut cluster) };
        (cluster.id != 0).then_some(cluster)
    }

    pub fn network_state(&self) -> NetworkState {
        let mut now = ffi::NetworkState::default();
        // It fails for null pointers alone.
        unsafe { ffi::weir_send_side_get_network_state(self.handle.as_ptr(), &mut now) };
        NetworkState {
            state: match now.state {
                0 => CongestionState::Normal,
                1 => CongestionState::EarlyWarning,
                _ => CongestionState::Congested,
            },
            at_time_us: (now.at_time_us != i64::MIN).then_some(now.at_time_us),
            link_capacity_bps: now.link_capacity_bps,
        }
    }

    /// Weights of throughput, latency and loss, at any time of a call.
    pub fn set_objective(&mut self, [throughput, latency, loss]: [f32; 3]) -> Result<(), Error> {
        check(unsafe { ffi::weir_send_side_set_objective(self.handle.as_ptr(), throughput, latency, loss) })
    }

    /// Bounds, at any time of a call. The start rate sets the rate only before the first packet; six times it also raises
    /// what the guard believes of feedback alone, so pass the original one.
    pub fn set_constraints(&mut self, constraints: &TargetRateConstraints, now_us: i64) -> Result<(), Error> {
        check(unsafe { ffi::weir_send_side_set_constraints(self.handle.as_ptr(), constraints, now_us) })
    }

    pub fn on_round_trip_time(&mut self, round_trip_time_us: i64, now_us: i64) -> Result<(), Error> {
        let handle = self.handle.as_ptr();
        check(unsafe { ffi::weir_send_side_on_round_trip_time(handle, round_trip_time_us, now_us) })
    }

    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        // It fails for null pointers alone.
        unsafe { ffi::weir_send_side_get_counters(self.handle.as_ptr(), &mut counters, size_of::<Counters>()) };
        counters
    }
}
