//! A bottleneck in simulated time, and a sender that sends filler at the rate of an estimator. Packets pass webrtc-rs's
//! own history, so that the estimator gets what a chain would give it.
#![allow(dead_code)] // Each program uses a part.
use rtc::interceptor::{Acknowledgement, BandwidthEstimator, History, PacketReport};
use rtc::rtcp::transport_feedbacks::cc_feedback_report::Ecn;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const SECOND: u64 = 1_000_000;
const STEP: u64 = 1_000;
const PACKET_BYTES: usize = 1_200;
const PACKET_BITS: u64 = 8 * PACKET_BYTES as u64;
const ONE_WAY: u64 = 25_000;
/// Longest queue, at the present capacity; further packets are dropped.
const QUEUE: u64 = 300_000;
/// webrtc-rs's and browsers' time between two feedback messages.
const FEEDBACK: u64 = 100_000;

#[derive(Clone, Copy)]
pub struct Path {
    pub name: &'static str,
    /// Bit/s at a second of the run.
    pub capacity: fn(u64) -> u64,
    pub loss: f64,
    /// Packets wait for up to this after the queue and keep their order.
    pub jitter_us: u64,
}

pub const fn path(name: &'static str, capacity: fn(u64) -> u64) -> Path {
    Path { name, capacity, loss: 0.0, jitter_us: 0 }
}

/// Uniform in 0 to 1 (xorshift64).
pub fn random(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// A report of a packet of 1200 bytes that arrived then, or was lost.
pub fn report(id: u64, departure: Instant, arrival: Option<Duration>) -> PacketReport {
    PacketReport {
        ssrc: 1,
        id,
        rtp_sequence_number: id as u16,
        is_twcc: true,
        twcc_sequence_number: id as u16,
        size: 1200,
        arrived: arrival.is_some(),
        departure,
        arrival,
        ecn: Default::default(),
    }
}

/// One packet that arrived: microseconds since the start of the run, and its one-way delay.
pub struct Arrival {
    pub at: u64,
    pub delay: u64,
}

/// Bit/s from second `from` on, and the p95 of the one-way delay in ms.
pub fn summary(arrivals: &[Arrival], from: u64, to: u64) -> (f64, f64) {
    let within = |arrival: &&Arrival| (from * SECOND..to * SECOND).contains(&arrival.at);
    let mut delays: Vec<u64> = arrivals.iter().filter(within).map(|arrival| arrival.delay).collect();
    delays.sort_unstable();
    let rate = (delays.len() as u64 * PACKET_BITS) as f64 / (to - from) as f64;
    (rate, delays.get(delays.len() * 95 / 100).map_or(f64::NAN, |delay| *delay as f64 / 1000.0))
}

pub fn run(path: Path, estimator: &mut dyn BandwidthEstimator, seconds: u64, seed: u64) -> Vec<Arrival> {
    let epoch = Instant::now();
    let instant = |us: u64| epoch + Duration::from_micros(us);
    let (mut history, mut arrivals, mut rng) = (History::new(), Vec::new(), seed);
    let (mut number, mut next_send, mut link_free, mut latest) = (0u16, 0.0, 0, 0);
    let mut queue: VecDeque<(u16, u64)> = VecDeque::new();
    // Arrivals that no feedback has yet, and messages on their way.
    let (mut received, mut messages) = (Vec::new(), VecDeque::new());
    for now in (0..seconds * SECOND).step_by(STEP as usize) {
        while next_send < (now + STEP) as f64 {
            let sent = next_send as u64;
            history.add_outgoing(1, number, true, number, PACKET_BYTES, instant(sent));
            if queue.len() as u64 * PACKET_BITS * SECOND / (path.capacity)(now / SECOND) < QUEUE {
                queue.push_back((number, sent));
            }
            number = number.wrapping_add(1);
            next_send += PACKET_BITS as f64 * SECOND as f64 / estimator.target_bitrate();
        }
        while let Some(&(number, sent)) = queue.front().filter(|(_, sent)| link_free.max(*sent) < now + STEP) {
            queue.pop_front();
            link_free = link_free.max(sent) + PACKET_BITS * SECOND / (path.capacity)(now / SECOND);
            let jitter = (random(&mut rng) * path.jitter_us as f64) as u64;
            if random(&mut rng) >= path.loss {
                latest = latest.max(link_free + ONE_WAY + jitter);
                arrivals.push(Arrival { at: latest, delay: latest - sent });
                received.push((latest, number));
            }
        }
        if now % FEEDBACK == 0 {
            let count = received.partition_point(|&(at, _)| at <= now);
            messages.push_back((now + ONE_WAY, received.drain(..count).collect::<Vec<_>>()));
        }
        while messages.front().is_some_and(|(at, _)| *at <= now) {
            for (at, number) in messages.pop_front().into_iter().flat_map(|(_, message)| message) {
                // Feedback counts in 250 us.
                let arrival = Duration::from_micros(at / 250 * 250);
                let acknowledgement = Acknowledgement::received(number, Some(arrival), Ecn::NotEct);
                history.on_twcc_feedback(instant(now), acknowledgement);
            }
            estimator.on_reports(instant(now), &history.take_reports());
        }
        if estimator.poll_timeout().is_some_and(|time| time <= instant(now)) {
            history.prune_before(instant(now) - Duration::from_secs(2));
            estimator.handle_timeout(instant(now));
        }
    }
    arrivals
}
