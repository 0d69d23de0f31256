//! A str0m sender under Weir and a str0m receiver, over a link in simulated time.
mod controller;

use controller::Controller;
use std::collections::VecDeque;
use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use str0m::media::{Direction, MediaKind, Mid};
use str0m::net::{Protocol, Receive, Transmit};
use str0m::rtp::RtpWrite;
use str0m::{Candidate, Event, Input, Output, Rtc};
use weir::{Config, Model};

const STEP: Duration = Duration::from_millis(1);
const ONE_WAY: Duration = Duration::from_millis(25);
const LONGEST_QUEUE: Duration = Duration::from_millis(300);
const PAYLOAD: [u8; 1100] = [0x10; 1100];
const CALL: Duration = Duration::from_secs(20);

/// One direction of the path: a bottleneck with a queue, and a delay.
struct Link {
    rate_bps: f64,
    free_at: Instant,
    packets: VecDeque<(Instant, Transmit)>,
}

impl Link {
    fn new(rate_bps: f64, start: Instant) -> Self {
        Self { rate_bps, free_at: start, packets: VecDeque::new() }
    }

    fn carry(&mut self, packet: Transmit, now: Instant) {
        let begins = self.free_at.max(now);
        if begins - now <= LONGEST_QUEUE {
            let bits = 8.0 * (packet.contents.len() + 28) as f64;
            self.free_at = begins + Duration::from_secs_f64(bits / self.rate_bps);
            self.packets.push_back((self.free_at + ONE_WAY, packet));
        }
    }
}

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
            Output::Transmit(packet) => link.carry(packet, now),
            Output::Event(event) => handle(event)?,
        }
    }
}

/// Hands `rtc` the packets that have arrived, and the time.
fn arrive(rtc: &mut Rtc, link: &mut Link, now: Instant) -> Result<(), Box<dyn Error>> {
    while link.packets.front().is_some_and(|(at, _)| *at <= now) {
        let (_, packet) = link.packets.pop_front().ok_or("no packet")?;
        let contents = Receive::new(Protocol::Udp, packet.source, packet.destination, &packet.contents)?;
        rtc.handle_input(Input::Receive(now, contents))?;
    }
    Ok(rtc.handle_input(Input::Timeout(now))?)
}

/// An `Rtc` for RTP that the application packetizes.
fn peer(address: &str, start: Instant) -> Result<Rtc, Box<dyn Error>> {
    let mut rtc = Rtc::builder().set_rtp_mode(true).enable_raw_packets(true).build(start);
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

/// Bit/s of payload that arrived in the second half of the call, and the target rate at its end.
fn call(link_bps: f64) -> Result<(f64, i64), Box<dyn Error>> {
    let start = Instant::now();
    let mut controller = Controller::new(&Model::shipped()?, &Config::default(), start)?;
    let (mut sender, mut receiver) = (peer("10.0.0.1:5000", start)?, peer("10.0.0.2:5000", start)?);
    let mid = connect(&mut sender, &mut receiver)?;
    let (mut forward, mut back) = (Link::new(link_bps, start), Link::new(link_bps, start));
    let (mut bytes, mut number, mut next_send) = (0, 0u64, start);
    let mut now = start;
    while now < start + CALL {
        now += STEP;
        arrive(&mut receiver, &mut forward, now)?;
        poll(&mut receiver, &mut back, now, |event| {
            if let Event::RtpPacket(packet) = event
                && now > start + CALL / 2
            {
                bytes += packet.payload.len();
            }
            Ok(())
        })?;
        arrive(&mut sender, &mut back, now)?;
        poll(&mut sender, &mut forward, now, |event| controller.on_event(&event, now))?;
        controller.on_timeout(now)?;
        if !sender.is_connected() {
            next_send = now;
        }
        // str0m without its own estimation does not pace, so the application sends each packet when it is due.
        while next_send < now {
            let pt = sender.media(mid).and_then(|media| media.remote_pts().first().copied()).ok_or("no codec")?;
            let mut direct = sender.direct_api();
            let stream = direct.stream_tx_by_mid(mid, None).ok_or("no stream")?;
            let time = (now - start).as_micros() as u32 / 100 * 9;
            stream.write_rtp(RtpWrite::new(pt, number.into(), time, now, &PAYLOAD[..]));
            number += 1;
            next_send += Duration::from_secs_f64(8.0 * 1160.0 / controller.rates().target_bps as f64);
            poll(&mut sender, &mut forward, now, |event| controller.on_event(&event, now))?;
        }
    }
    Ok((8.0 * bytes as f64 / (CALL / 2).as_secs_f64(), controller.rates().target_bps))
}

fn main() -> Result<(), Box<dyn Error>> {
    for link_bps in [500_000.0, 1_000_000.0, 3_000_000.0] {
        let (received_bps, target_bps) = call(link_bps)?;
        println!("link {:.0} kbps: {:.0} received, target {}", link_bps / 1e3, received_bps / 1e3, target_bps / 1000);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::call;

    #[test]
    fn a_str0m_sender_uses_most_of_the_link() {
        let (received_bps, _) = call(1_000_000.0).unwrap();
        assert!((700_000.0..1_000_000.0).contains(&received_bps), "{received_bps}");
    }
}
