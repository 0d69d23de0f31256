//! Repair of a video's losses, and the playout delay.
use crate::ffi;
use crate::{Error, check, created};
use std::ptr::NonNull;

/// How lost packets are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairChoice {
    /// Nothing is lost, or the round trip is unknown: what is in use stays.
    Unchanged,
    /// Retransmissions alone.
    Nack,
    /// FEC in addition.
    Fec,
}

/// Chooses at the sender between retransmissions alone and FEC in addition; `weir/repair_policy.h` has the rules.
pub struct Repair {
    handle: NonNull<ffi::Repair>,
}

// SAFETY: a weir_repair is bound to no thread. It is not Sync, since calls on one must not overlap.
unsafe impl Send for Repair {}

impl Drop for Repair {
    fn drop(&mut self) {
        // SAFETY: the handle is not used again.
        unsafe { ffi::weir_repair_destroy(self.handle.as_ptr()) }
    }
}

impl Repair {
    pub fn new() -> Result<Self, Error> {
        // SAFETY: the function has no other precondition than a place for the handle.
        let handle = created(|out| unsafe { ffi::weir_repair_create(out) })?;
        Ok(Self { handle })
    }

    /// The repair from now on. `rate_bps` is the target rate and `round_trip_us` the round trip, each 0 if unknown.
    /// Ratios, 0 to 1, over about five seconds: of lost packets, and of feedback that the return path lost. A `now_us`
    /// that is not after that of the previous call changes nothing.
    pub fn choose(
        &mut self,
        rate_bps: i64,
        round_trip_us: i64,
        loss_ratio: f64,
        feedback_loss_ratio: f64,
        now_us: i64,
    ) -> Result<RepairChoice, Error> {
        let handle = self.handle.as_ptr();
        // SAFETY: the handle is valid until drop(), and &mut self keeps calls apart.
        let choice = unsafe {
            ffi::weir_repair_choose_at_sender(handle, rate_bps, round_trip_us, loss_ratio, feedback_loss_ratio, now_us)
        };
        check(choice)?;
        Ok(match choice {
            0 => RepairChoice::Unchanged,
            1 => RepairChoice::Nack,
            _ => RepairChoice::Fec,
        })
    }
}

/// The minimum to send with [`max_playout_delay_us`] in the RTP header extension playout-delay.
pub const MIN_PLAYOUT_DELAY_US: i64 = 10_000;

/// The maximum of that extension, 100 to 250 ms in multiples of 10 ms: the time in which a receiver renders frames that
/// arrive late or are repaired by NACK. `jitter_us` is RFC 3550's, from the latest receiver report; `previous_us` the
/// last result, or 0. Call it with each receiver report: the result rises at once and falls by at most 10 ms.
pub fn max_playout_delay_us(jitter_us: i64, round_trip_us: i64, frame_interval_us: i64, previous_us: i64) -> i64 {
    // SAFETY: it takes and returns numbers.
    unsafe { ffi::weir_max_playout_delay_us(jitter_us, round_trip_us, frame_interval_us, previous_us) }
}
