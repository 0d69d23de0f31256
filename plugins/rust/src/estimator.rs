//! webrtc-rs's `BandwidthEstimator`.
use crate::{Config, Counters, Error, Model, NetworkState, PacketFeedback, PacketKind};
use crate::{ProbeClusterConfig, Rates, SendSideEstimator, SentPacket, TargetRateConstraints};
use rtc_interceptor::{BandwidthEstimator, EstimatorStats, PacketReport};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Reports in one message to the library, which remembers 6144 sent packets.
const MAX_REPORTS: usize = 4096;
/// The least time between two timeouts, so that the chain never spins.
const MIN_TIMEOUT: Duration = Duration::from_millis(1);

/// Weir as the estimator of a webrtc-rs chain. The chain owns what it is given, so keep a clone: clones are one
/// estimator, and the application's reads rates and sets weights during the call.
#[derive(Clone)]
pub struct Estimator(Arc<Mutex<State>>);

struct State {
    send_side: SendSideEstimator,
    /// Time 0 and the latest call.
    times: Option<(Instant, Instant)>,
    /// Packets are numbered as they are reported, since the chain reports each once and those that it forgot never.
    next_number: u16,
    /// The id that the chain would give the next packet, at least.
    next_id: u64,
    round_trip_time: Option<Duration>,
    feedback: Vec<PacketFeedback>,
    /// The latest report, which the library gets with the next ones: a sender whose packets are all answered looks like
    /// one that pauses, and without feedback its rate would stay.
    withheld: Option<PacketFeedback>,
    retransmission_ssrcs: Vec<u32>,
    probe: Option<Probe>,
}

/// The latest cluster. The packets that left since it was taken belong to it until they are enough.
struct Probe {
    cluster: ProbeClusterConfig,
    taken: Instant,
    bytes: i64,
    packets: i32,
}

impl Probe {
    /// The cluster's id for a packet that belongs to it, else 0.
    fn id(&mut self, departure: Instant, size_bytes: u32) -> i32 {
        let cluster = &self.cluster;
        let bytes = cluster.target_data_rate_bps.saturating_mul(cluster.target_duration_us) / 8_000_000;
        if departure < self.taken || (self.bytes >= bytes && self.packets >= cluster.target_probe_count) {
            return 0;
        }
        self.bytes = self.bytes.saturating_add(size_bytes.into());
        self.packets = self.packets.saturating_add(1);
        cluster.id
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

impl State {
    /// Microseconds since time 0, which is that of the first reports; packets left before it.
    fn micros(&self, time: Instant) -> i64 {
        let zero = self.times.map_or(time, |(zero, _)| zero);
        micros(time.saturating_duration_since(zero)) - micros(zero.saturating_duration_since(time))
    }

    fn begin(&mut self, now: Instant) -> i64 {
        let (zero, latest) = self.times.unwrap_or((now, now));
        self.times = Some((zero, latest.max(now)));
        self.micros(now)
    }

    /// The chain has no way for an error, and those of these calls are times that no clock reaches: the rate stays.
    fn report(&mut self, reports: &[PacketReport], now_us: i64) {
        self.feedback.clear();
        self.feedback.extend(self.withheld.take());
        for report in reports {
            if report.id < self.next_id {
                continue;
            }
            self.next_id = report.id.saturating_add(1);
            let sequence_number = self.next_number;
            self.next_number = sequence_number.wrapping_add(1);
            let size_bytes = u32::try_from(report.size).unwrap_or(u32::MAX);
            let retransmitted = self.retransmission_ssrcs.contains(&report.ssrc);
            let _ = self.send_side.on_sent_packet(&SentPacket {
                send_time_us: self.micros(report.departure),
                size_bytes,
                sequence_number,
                kind: if retransmitted { PacketKind::Retransmission } else { PacketKind::Video },
                probe_cluster_id: self.probe.as_mut().map_or(0, |probe| probe.id(report.departure, size_bytes)),
            });
            match (report.arrived, report.arrival) {
                (true, Some(arrival)) => self.feedback.push(PacketFeedback::received(sequence_number, micros(arrival))),
                // At an unknown time: a packet that no report mentions counts as received between its neighbors.
                (true, None) => {}
                (false, _) => self.feedback.push(PacketFeedback::lost(sequence_number)),
            }
        }
        self.withheld = self.feedback.pop();
        let _ = self.send_side.on_transport_feedback(&self.feedback, now_us);
    }
}

impl Estimator {
    pub fn new(model: &Model, config: &Config) -> Result<Self, Error> {
        Ok(Self(Arc::new(Mutex::new(State {
            send_side: SendSideEstimator::new(model, config)?,
            times: None,
            next_number: 0,
            next_id: 0,
            round_trip_time: None,
            feedback: Vec::new(),
            withheld: None,
            retransmission_ssrcs: Vec::new(),
            probe: None,
        }))))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing within panics half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rates in force. They count RTP packets with their headers, without SRTP, UDP and IP.
    pub fn rates(&self) -> Rates {
        self.lock().send_side.rates()
    }

    /// Weights of throughput, latency and loss, at any time of a call.
    pub fn set_objective(&self, objective: [f32; 3]) -> Result<(), Error> {
        self.lock().send_side.set_objective(objective)
    }

    /// Bounds, at any time of a call; the start rate as for [`crate::SendSideEstimator::set_constraints`].
    pub fn set_constraints(&self, constraints: &TargetRateConstraints) -> Result<(), Error> {
        let mut state = self.lock();
        let now_us = state.times.map_or(0, |(_, latest)| state.micros(latest));
        state.send_side.set_constraints(constraints, now_us)
    }

    /// As [`SendSideEstimator::set_desired_rate`].
    pub fn set_desired_rate(&self, total_bps: i64, next_bps: i64) -> Result<(), Error> {
        self.lock().send_side.set_desired_rate(total_bps, next_bps)
    }

    /// A cluster that has become due, once each; call it after feedback and timeouts, with the clock of the chain. Send
    /// it at once: packets that leave from `now` on belong to it until they are enough.
    pub fn take_probe_cluster(&self, now: Instant) -> Option<ProbeClusterConfig> {
        let mut state = self.lock();
        let cluster = state.send_side.take_probe_cluster()?;
        state.probe = Some(Probe { cluster, taken: now, bytes: 0, packets: 0 });
        Some(cluster)
    }

    /// SSRCs of retransmissions, which fill clusters up to 2.5 % of the bytes sent. All other packets count as video.
    pub fn set_retransmission_ssrcs(&self, ssrcs: &[u32]) {
        self.lock().retransmission_ssrcs = ssrcs.to_vec();
    }

    pub fn network_state(&self) -> NetworkState {
        self.lock().send_side.network_state()
    }

    pub fn counters(&self) -> Counters {
        self.lock().send_side.counters()
    }
}

impl BandwidthEstimator for Estimator {
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        if reports.is_empty() {
            return;
        }
        let mut state = self.lock();
        let now_us = state.begin(now);
        for reports in reports.chunks(MAX_REPORTS) {
            state.report(reports, now_us);
        }
        let received = reports.iter().filter(|report| report.arrived);
        if let Some(time) = received.map(|report| now.saturating_duration_since(report.departure)).min() {
            state.round_trip_time = Some(time);
            let _ = state.send_side.on_round_trip_time(micros(time), now_us);
        }
    }

    fn target_bitrate(&self) -> f64 {
        self.rates().target_bps as f64
    }

    fn handle_timeout(&mut self, now: Instant) {
        let mut state = self.lock();
        if state.times.is_some() {
            let now_us = state.begin(now);
            let _ = state.send_side.on_timeout(now_us);
        }
    }

    /// None before the first reports and in a pause, else never before a millisecond after the latest call.
    fn poll_timeout(&self) -> Option<Instant> {
        let state = self.lock();
        let (zero, latest) = state.times?;
        let wait = Duration::from_micros(u64::try_from(state.send_side.next_timeout_us()?).unwrap_or(0));
        Some(zero.checked_add(wait)?.max(latest.checked_add(MIN_TIMEOUT)?))
    }

    /// The loss ratio is that of the whole call.
    fn stats(&self) -> EstimatorStats {
        let state = self.lock();
        let counters = state.send_side.counters();
        let reported = counters.packets_received + counters.packets_lost;
        let mut stats = EstimatorStats::default();
        stats.round_trip_time = state.round_trip_time;
        stats.packet_loss = (reported > 0).then(|| counters.packets_lost as f64 / reported as f64);
        stats
    }
}
