//! The layers that a server forwards to one subscriber.
use crate::ffi::{self, MAX_MEDIA_LAYERS, MAX_MEDIA_STREAMS};
use crate::{Error, LayerRates, MediaLayer, PacketKind, check, created, text};
use std::ptr::NonNull;

/// A stream that a server can forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaStream<'a> {
    /// Unique.
    pub id: u32,
    /// Video or audio.
    pub kind: PacketKind,
    /// Higher first.
    pub priority: i32,
    /// False: the lowest layer is always on, as for audio.
    pub may_pause: bool,
    /// 1 to [`MAX_MEDIA_LAYERS`], with rising rates.
    pub layers: &'a [MediaLayer],
}

/// The part of a stream that is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerAllocation {
    pub id: u32,
    /// The highest that is forwarded, from 0; None: the stream is paused.
    pub layer: Option<usize>,
    /// The layer itself; zeros while paused.
    pub forwarded: MediaLayer,
    /// Reason of the latest change: "start", "headroom", "target_fell", "streams_changed" or "priority".
    pub reason: &'static str,
    /// Time of that change.
    pub at_time_us: i64,
}

/// Decides which simulcast or SVC layers of which streams a server forwards to one subscriber within a target rate;
/// `weir/layer_allocator.h` has the rules.
pub struct LayerAllocator {
    handle: NonNull<ffi::LayerAllocator>,
}

// SAFETY: a weir_layer_allocator is bound to no thread. It is not Sync, since calls on one must not overlap.
unsafe impl Send for LayerAllocator {}

impl Drop for LayerAllocator {
    fn drop(&mut self) {
        // SAFETY: the handle is not used again.
        unsafe { ffi::weir_layer_allocator_destroy(self.handle.as_ptr()) }
    }
}

// SAFETY, of all calls below: the handle is valid until drop(), &mut self keeps calls apart, other pointers are valid
// during the call.
impl LayerAllocator {
    /// A layer is added when it, and those before it that are on, have needed at most 1 / (1 + `margin`) of the target
    /// for `wait_us`. `margin` 0: 0.1, else at most 1; `wait_us` 0: 500 ms, else 100 ms to 32 s.
    pub fn new(margin: f64, wait_us: i64) -> Result<Self, Error> {
        let handle = created(|out| unsafe { ffi::weir_layer_allocator_create(margin, wait_us, out) })?;
        Ok(Self { handle })
    }

    /// Replaces the streams, at most [`MAX_MEDIA_STREAMS`], for example when rates were measured again. A stream with
    /// the id and the number of layers of a former one continues it. An error changes nothing.
    pub fn set_streams(&mut self, streams: &[MediaStream]) -> Result<(), Error> {
        let convert = |stream: &MediaStream| {
            let mut layers = [MediaLayer::default(); MAX_MEDIA_LAYERS];
            layers.iter_mut().zip(stream.layers).for_each(|(to, from)| *to = *from);
            ffi::MediaStream {
                id: stream.id,
                kind: stream.kind as u32,
                priority: stream.priority,
                may_pause: stream.may_pause.into(),
                // The library refuses more than there is room for, and reads none of them.
                layer_count: stream.layers.len(),
                layers,
            }
        };
        let streams: Vec<_> = streams.iter().map(convert).collect();
        let handle = self.handle.as_ptr();
        check(unsafe { ffi::weir_layer_allocator_set_streams(handle, streams.as_ptr(), streams.len()) })
    }

    /// One allocation for each stream, in their order. Call it when the target or the streams change, and every 100 ms.
    /// A `now_us` before that of the previous call changes nothing.
    pub fn allocate(&mut self, target_rate_bps: i64, now_us: i64) -> Result<Vec<LayerAllocation>, Error> {
        let mut written = Vec::<ffi::LayerAllocation>::with_capacity(MAX_MEDIA_STREAMS);
        let (handle, to, capacity) = (self.handle.as_ptr(), written.as_mut_ptr(), written.capacity());
        let count = unsafe { ffi::weir_layer_allocator_allocate(handle, target_rate_bps, now_us, to, capacity) };
        check(count)?;
        // The library has written so many, within the capacity.
        unsafe { written.set_len(count as usize) };
        let convert = |one: ffi::LayerAllocation| LayerAllocation {
            id: one.id,
            layer: usize::try_from(one.layer).ok(),
            forwarded: one.forwarded,
            // Reasons are in static storage.
            reason: unsafe { text(one.reason) },
            at_time_us: one.at_time_us,
        };
        Ok(written.into_iter().map(convert).collect())
    }

    /// The rates of the present streams and layers.
    pub fn rates(&self) -> LayerRates {
        let mut rates = LayerRates::default();
        // It fails for null pointers alone.
        unsafe { ffi::weir_layer_allocator_get_rates(self.handle.as_ptr(), &mut rates) };
        rates
    }
}
