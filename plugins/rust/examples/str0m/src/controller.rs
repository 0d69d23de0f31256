//! Weir beside a str0m `Rtc`, whose own bandwidth estimation stays off. str0m 0.25 takes no other estimator, but
//! `RtcConfig::enable_raw_packets` shows the packets that it sends and the feedback that it receives.
use std::time::Instant;
use str0m::Event;
use str0m::rtp::RawPacket;
use str0m::rtp::rtcp::{Rtcp, Twcc};
use weir::{Config, Error, Model, PacketFeedback, Rates, SendSideEstimator, SentPacket};

/// IPv4, UDP and the tag of SRTP, which a packet on the path has beside its plain RTP.
const OVERHEAD_BYTES: usize = 20 + 8 + 10;

pub struct Controller {
    estimator: SendSideEstimator,
    /// Time 0 of the estimator.
    start: Instant,
}

impl Controller {
    pub fn new(model: &Model, config: &Config, start: Instant) -> Result<Self, Error> {
        Ok(Self { estimator: SendSideEstimator::new(model, config)?, start })
    }

    fn micros(&self, time: Instant) -> i64 {
        time.saturating_duration_since(self.start).as_micros() as i64
    }

    /// Takes each event of `Rtc::poll_output`; `now` is the time of the latest input.
    pub fn on_event(&mut self, event: &Event, now: Instant) -> Result<(), Error> {
        let Some(packet) = event.as_raw_packet() else { return Ok(()) };
        match packet {
            RawPacket::RtpTx(header, packet) => match header.ext_vals.transport_cc {
                Some(sequence_number) => self.estimator.on_sent_packet(&SentPacket {
                    send_time_us: self.micros(now),
                    size_bytes: (packet.len() + OVERHEAD_BYTES) as u32,
                    sequence_number,
                    ..Default::default()
                }),
                None => Ok(()),
            },
            RawPacket::RtcpRx(Rtcp::Twcc(feedback)) => self.on_feedback(feedback, now),
            _ => Ok(()),
        }
    }

    fn on_feedback(&mut self, feedback: &Twcc, now: Instant) -> Result<(), Error> {
        // The receiver's clock has its own origin, which the estimator does not need.
        let packets = feedback.clone().into_iter(self.start, 0.into()).map(|(number, _, arrival)| match arrival {
            Some(arrival) => PacketFeedback::received(number.as_u16(), self.micros(arrival)),
            None => PacketFeedback::lost(number.as_u16()),
        });
        let packets: Vec<_> = packets.collect();
        self.estimator.on_transport_feedback(&packets, self.micros(now))
    }

    /// Call it at least every 50 ms: it decides where no feedback arrives.
    pub fn on_timeout(&mut self, now: Instant) -> Result<(), Error> {
        let now_us = self.micros(now);
        match self.estimator.next_timeout_us() {
            Some(due_us) if due_us <= now_us => self.estimator.on_timeout(now_us),
            _ => Ok(()),
        }
    }

    pub fn rates(&self) -> Rates {
        self.estimator.rates()
    }
}
