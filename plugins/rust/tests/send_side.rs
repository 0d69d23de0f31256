//! The estimator without webrtc-rs, in simulated time.
use weir::{Config, Model, PacketFeedback, SendSideEstimator, SentPacket};

const INTERVAL_US: i64 = 5_000;
const DELAY_US: i64 = 20_000;
const PACKETS_PER_MESSAGE: i64 = 10;

/// The target after packets of 1.92 Mbps, which reach a link of `capacity_bps` with a queue of 300 ms.
fn target_after(packets: i64, capacity_bps: i64) -> i64 {
    let mut sender = SendSideEstimator::new(&Model::shipped().unwrap(), &Config::default()).unwrap();
    let (mut feedback, mut free_us) = (Vec::new(), 0);
    for i in 0..packets {
        let (now_us, sequence_number) = (i * INTERVAL_US, i as u16);
        let packet = SentPacket { send_time_us: now_us, size_bytes: 1200, sequence_number, ..Default::default() };
        sender.on_sent_packet(&packet).unwrap();
        if free_us - now_us < 300_000 {
            free_us = free_us.max(now_us) + 9_600 * 1_000_000 / capacity_bps;
            feedback.push(PacketFeedback::received(sequence_number, free_us + DELAY_US));
        } else {
            feedback.push(PacketFeedback::lost(sequence_number));
        }
        if feedback.len() as i64 == PACKETS_PER_MESSAGE {
            sender.on_transport_feedback(&feedback, now_us.max(free_us) + 2 * DELAY_US).unwrap();
            feedback.clear();
        }
    }
    sender.rates().target_bps
}

#[test]
fn the_target_rises_where_the_path_carries_what_is_sent() {
    assert!(target_after(1000, 10_000_000) > 600_000);
}

#[test]
fn the_target_stays_below_a_slower_link() {
    assert!(target_after(1000, 500_000) < 600_000);
}
