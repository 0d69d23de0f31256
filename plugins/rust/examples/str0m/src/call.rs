//! A call from a str0m sender to a str0m receiver over str0m's own network emulator, in simulated time.
use crate::controller::Controller;
use netem::{Input as LinkInput, Netem, NetemConfig, Output as LinkOutput, WithLen};
use std::error::Error;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};
use str0m::bwe::{Bitrate, BweKind};
use str0m::media::{Direction, MediaKind, Mid};
use str0m::net::{Protocol, Receive, Transmit};
use str0m::rtp::RtpWrite;
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};
use weir::{Config, Model, TargetRateConstraints};

const STEP: Duration = Duration::from_millis(1);
const PAYLOAD: [u8; 1100] = [0x10; 1100];
/// With its RTP header, and what the controller counts beside it.
const PACKET_BITS: f64 = 8.0 * 1160.0;
const START_BPS: i64 = 1_000_000;
/// The most that the media uses.
pub const DESIRED_BPS: i64 = 5_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimator {
    Weir,
    /// str0m's own, with its pacer and probes.
    Str0m,
}

/// The media of a call.
#[derive(Debug)]
pub struct Measures {
    /// Payload that arrived, without padding; repaired packets count once.
    pub received_bps: f64,
    /// From `write_rtp` to the arrival, with a pacer's queue and repairs.
    pub delay_p95: Duration,
    pub lost_ratio: f64,
}

/// The link copies what it duplicates.
#[derive(Clone)]
struct Datagram(Rc<Transmit>);

impl WithLen for Datagram {
    fn len(&self) -> usize {
        self.0.contents.len()
    }
}

type Link = Netem<Datagram>;

/// Polls until `rtc` has no more to do now. Packets go onto the link, events to `handle`.
fn poll(
    rtc: &mut Rtc,
    link: &mut Link,
    now: Instant,
    mut handle: impl FnMut(Event) -> Result<(), weir::Error>,
) -> Result<(), Box<dyn Error>> {
    loop {
        match rtc.poll_output()? {
            Output::Timeout(_) => return Ok(()),
            Output::Transmit(packet) => link.handle_input(LinkInput::Packet(now, Datagram(Rc::new(packet)))),
            Output::Event(event) => handle(event)?,
        }
    }
}

/// Hands `rtc` the next packet that has arrived, else the time. Poll after each: str0m keeps one packet for its events.
/// Returns false with the time.
fn arrive(rtc: &mut Rtc, link: &mut Link, now: Instant) -> Result<bool, Box<dyn Error>> {
    link.handle_input(LinkInput::Timeout(now));
    let Some(LinkOutput::Packet(Datagram(packet))) = link.poll_output() else {
        rtc.handle_input(Input::Timeout(now))?;
        return Ok(false);
    };
    let contents = Receive::new(Protocol::Udp, packet.source, packet.destination, &packet.contents)?;
    rtc.handle_input(Input::Receive(now, contents))?;
    Ok(true)
}

/// An `Rtc` for RTP that the application packetizes.
fn peer(config: RtcConfig, address: &str, start: Instant) -> Result<Rtc, Box<dyn Error>> {
    let mut rtc = config.set_rtp_mode(true).build(start);
    let address: SocketAddr = address.parse()?;
    rtc.add_local_candidate(Candidate::host(address, "udp")?);
    Ok(rtc)
}

/// Offer and answer, as signaling does. Returns the media section.
fn connect(sender: &mut Rtc, receiver: &mut Rtc) -> Result<Mid, Box<dyn Error>> {
    let mut change = sender.sdp_api();
    let mid = change.add_media(MediaKind::Video, Direction::SendOnly, None, None, None);
    let (offer, pending) = change.apply().ok_or("nothing to offer")?;
    let answer = receiver.sdp_api().accept_offer(offer)?;
    sender.sdp_api().accept_answer(pending, answer)?;
    Ok(mid)
}

/// The sender, with the estimator that decides its rate.
struct Sender {
    rtc: Rtc,
    weir: Option<Controller>,
    target_bps: i64,
}

impl Sender {
    fn new(estimator: Estimator, start: Instant) -> Result<Self, Box<dyn Error>> {
        let bitrate = |bps: i64| Bitrate::bps(bps as u64);
        let address = "10.0.0.1:5000";
        if estimator == Estimator::Str0m {
            let mut rtc = peer(Rtc::builder().enable_bwe(Some(bitrate(START_BPS))), address, start)?;
            rtc.bwe().set_bitrate(bitrate(0), bitrate(DESIRED_BPS));
            return Ok(Self { rtc, weir: None, target_bps: START_BPS });
        }
        let constraints =
            TargetRateConstraints { start_rate_bps: START_BPS, max_rate_bps: DESIRED_BPS, ..Default::default() };
        let weir = Controller::new(&Model::shipped()?, &Config { constraints, ..Default::default() }, start)?;
        let rtc = peer(Rtc::builder().enable_raw_packets(true), address, start)?;
        Ok(Self { rtc, weir: Some(weir), target_bps: START_BPS })
    }

    fn poll(&mut self, link: &mut Link, now: Instant) -> Result<(), Box<dyn Error>> {
        let (weir, target_bps) = (&mut self.weir, &mut self.target_bps);
        poll(&mut self.rtc, link, now, |event| {
            if let Event::EgressBitrateEstimate(BweKind::Twcc { estimate, .. }) = event {
                *target_bps = (estimate.as_u64() as i64).min(DESIRED_BPS);
            }
            weir.as_mut().map_or(Ok(()), |controller| controller.on_event(&event, now))
        })?;
        if let Some(controller) = weir {
            controller.on_timeout(now)?;
            *target_bps = controller.rates().target_bps;
        }
        Ok(())
    }
}

/// Makes a call over a path whose conditions change: those of each phase, in both directions, and its length.
pub fn call(estimator: Estimator, phases: &[(NetemConfig, Duration)]) -> Result<Measures, Box<dyn Error>> {
    let start = Instant::now();
    let mut sender = Sender::new(estimator, start)?;
    let mut receiver = peer(Rtc::builder(), "10.0.0.2:5000", start)?;
    let mid = connect(&mut sender.rtc, &mut receiver)?;
    let (conditions, _) = phases.first().ok_or("no phase")?;
    let (mut forward, mut back) = (Link::new(*conditions), Link::new(*conditions));
    let (mut now, mut end, mut next_send, mut number) = (start, start, start, 0u64);
    let mut delays: Vec<Duration> = Vec::new();
    for (conditions, duration) in phases {
        forward.set_config(*conditions);
        back.set_config(*conditions);
        end += *duration;
        while now < end {
            now += STEP;
            let mut more = true;
            while more {
                more = arrive(&mut receiver, &mut forward, now)?;
                poll(&mut receiver, &mut back, now, |event| {
                    if let Event::RtpPacket(packet) = event
                        && packet.payload.len() == PAYLOAD.len()
                    {
                        let written = start + Duration::from_micros(u64::from(packet.header.timestamp) * 100 / 9);
                        delays.push(now.saturating_duration_since(written));
                    }
                    Ok(())
                })?;
            }
            more = true;
            while more {
                more = arrive(&mut sender.rtc, &mut back, now)?;
                sender.poll(&mut forward, now)?;
            }
            if !sender.rtc.is_connected() {
                next_send = now;
            }
            // Without its own estimation str0m does not pace, so the application sends each packet when it is due.
            while next_send < now {
                let pt =
                    sender.rtc.media(mid).and_then(|media| media.remote_pts().first().copied()).ok_or("no codec")?;
                let mut direct = sender.rtc.direct_api();
                let stream = direct.stream_tx_by_mid(mid, None).ok_or("no stream")?;
                let time = ((now - start).as_micros() * 9 / 100) as u32;
                stream.write_rtp(RtpWrite::new(pt, number.into(), time, now, &PAYLOAD[..]).nackable(true));
                number += 1;
                next_send += Duration::from_secs_f64(PACKET_BITS / sender.target_bps.min(DESIRED_BPS) as f64);
                sender.poll(&mut forward, now)?;
            }
        }
    }
    delays.sort();
    Ok(Measures {
        received_bps: 8.0 * (delays.len() * PAYLOAD.len()) as f64 / (end - start).as_secs_f64(),
        delay_p95: delays.get(delays.len() * 95 / 100).copied().unwrap_or_default(),
        lost_ratio: 1.0 - delays.len() as f64 / number.max(1) as f64,
    })
}
