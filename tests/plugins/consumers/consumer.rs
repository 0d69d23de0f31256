//! A sender with the shipped model: the rate after 400 packets.
use weir::{Config, Model, PacketFeedback, SendSideEstimator, SentPacket};

fn main() -> Result<(), weir::Error> {
    let mut sender = SendSideEstimator::new(&Model::shipped()?, &Config::default())?;
    let mut feedback = Vec::new();
    for i in 0..400u16 {
        let now_us = 5000 * i64::from(i);
        let packet = SentPacket { send_time_us: now_us, size_bytes: 1200, sequence_number: i, ..Default::default() };
        sender.on_sent_packet(&packet)?;
        feedback.push(PacketFeedback::received(i, now_us + 20000));
        if i % 10 == 9 {
            sender.on_transport_feedback(&feedback, now_us + 40000)?;
            feedback.clear();
        }
    }
    println!("{} {}", sender.rates().target_bps, sender.rates().reason);
    Ok(())
}
