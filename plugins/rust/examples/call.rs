//! A call over loopback: webrtc-rs sends filler at Weir's rate to weir-peer, a native libwebrtc, which sends
//! transport-wide feedback. `cargo run --release --features webrtc-rs --example call PEER [SECONDS]`
use rtc::interceptor::Registry;
use rtc::media_stream::MediaStreamTrack;
use rtc::peer_connection::configuration::interceptor_registry::{CongestionFeedback, configure_congestion_control};
use rtc::peer_connection::configuration::media_engine::{MIME_TYPE_VP8, MediaEngine};
use rtc::peer_connection::event::RTCPeerConnectionEvent as Event;
use rtc::peer_connection::sdp::RTCSessionDescription;
use rtc::peer_connection::state::RTCPeerConnectionState;
use rtc::peer_connection::transport::RTCIceCandidateInit;
use rtc::peer_connection::{RTCPeerConnection, RTCPeerConnectionBuilder};
use rtc::rtp_transceiver::RTCRtpSenderId;
use rtc::rtp_transceiver::rtp_sender::{
    RTCRtpCodec, RTCRtpCodecParameters, RTCRtpCodingParameters, RTCRtpEncodingParameters, RtpCodecKind,
};
use rtc::sansio::Protocol;
use rtc::shared::{TaggedBytesMut, TransportContext};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, UdpSocket};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use weir::{Config, Estimator, Model, TargetRateConstraints};

type Failure = Box<dyn std::error::Error>;
const SSRC: u32 = 0x5765_6972;
const PAYLOAD_BYTES: usize = 1_100;

fn connection(estimator: Estimator, at: SocketAddr) -> Result<(RTCPeerConnection, RTCRtpSenderId), Failure> {
    let mut media = MediaEngine::default();
    let rtp_codec = RTCRtpCodec { mime_type: MIME_TYPE_VP8.into(), clock_rate: 90_000, ..Default::default() };
    let codec = RTCRtpCodecParameters { rtp_codec: rtp_codec.clone(), payload_type: 96 };
    media.register_codec(codec, RtpCodecKind::Video)?;
    let registry = configure_congestion_control(Registry::new(), estimator, CongestionFeedback::Twcc, &mut media)?;
    let mut connection = RTCPeerConnectionBuilder::new()
        .with_media_engine(media)
        .with_interceptor_registry(registry)
        .build(Instant::now())?;
    let encoding = RTCRtpEncodingParameters {
        rtp_coding_parameters: RTCRtpCodingParameters { ssrc: Some(SSRC), ..Default::default() },
        codec: rtp_codec,
        ..Default::default()
    };
    let [stream, track, label] = ["weir", "filler", "filler"].map(String::from);
    let track = MediaStreamTrack::new(stream, track, label, RtpCodecKind::Video, vec![encoding]);
    let sender = connection.add_track(track)?;
    connection.add_local_candidate(RTCIceCandidateInit {
        candidate: format!("candidate:1 1 udp 2130706431 {} {} typ host", at.ip(), at.port()),
        ..Default::default()
    })?;
    Ok((connection, sender))
}

/// Where lines to weir-peer go, whose end stops it, and where its lines arrive.
fn start(program: &str) -> Result<(ChildStdin, Receiver<Value>), Failure> {
    let mut peer = Command::new(program);
    peer.args(["--role", "receive", "--controller", "gcc"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = peer.spawn()?;
    let (input, output) = child.stdin.take().zip(child.stdout.take()).ok_or("no pipes")?;
    let (lines, received) = channel();
    std::thread::spawn(move || {
        let read = BufReader::new(output).lines().map_while(Result::ok);
        read.filter_map(|line| serde_json::from_str(&line).ok()).for_each(|line| drop(lines.send(line)));
        child.wait()
    });
    Ok((input, received))
}

/// Sends for as long as `media`; returns the number of packets, and the estimator.
fn call(program: &str, media: Duration) -> Result<(u64, Estimator), Failure> {
    let constraints = TargetRateConstraints { max_rate_bps: 2_000_000, ..Default::default() };
    let config = Config { constraints, ..Config::default() };
    let estimator = Estimator::new(&Model::shipped()?, &config)?;
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let local_addr = socket.local_addr()?;
    let (mut connection, sender) = connection(estimator.clone(), local_addr)?;
    let offer = connection.create_offer(None)?;
    connection.set_local_description(Instant::now(), offer)?;
    let (mut peer, lines) = start(program)?;
    let offer = connection.local_description().ok_or("no local description")?;
    writeln!(peer, "{}", json!({"type": "offer", "sdp": offer.sdp}))?;
    let (begin, mut connected, mut next_send, mut sent) = (Instant::now(), None, Instant::now(), 0u64);
    let mut buffer = [0; 2000];
    while connected.is_none_or(|since: Instant| since.elapsed() < media) {
        if connected.is_none() && begin.elapsed() > Duration::from_secs(20) {
            return Err("no connection within 20 s".into());
        }
        while let Ok(line) = lines.try_recv() {
            match line["type"].as_str() {
                Some("answer") => {
                    let answer = RTCSessionDescription::answer(line["sdp"].as_str().unwrap_or_default().into())?;
                    connection.set_remote_description(Instant::now(), answer)?;
                }
                Some("candidate") => connection.add_remote_candidate(RTCIceCandidateInit {
                    candidate: line["candidate"].as_str().unwrap_or_default().into(),
                    ..Default::default()
                })?,
                Some("error") => return Err(line.to_string().into()),
                _ => {}
            }
        }
        let now = Instant::now();
        if connection.poll_timeout().is_some_and(|time| time <= now) {
            connection.handle_timeout(now)?;
        }
        while connected.is_some() && next_send <= now {
            // A VP8 payload descriptor; weir-peer decodes nothing of the rest, but reports its arrival.
            let mut packet = rtc::rtp::Packet { payload: vec![0x10; PAYLOAD_BYTES].into(), ..Default::default() };
            packet.header.ssrc = SSRC;
            packet.header.version = 2;
            packet.header.payload_type = 96;
            packet.header.sequence_number = sent as u16;
            packet.header.timestamp = (begin.elapsed().as_micros() * 9 / 100) as u32;
            connection.rtp_sender(sender).ok_or("no sender")?.write_rtp(now, packet)?;
            sent += 1;
            next_send += Duration::from_secs_f64((PAYLOAD_BYTES * 8) as f64 / estimator.rates().target_bps as f64);
        }
        while let Some(message) = connection.poll_write() {
            socket.send_to(&message.message, message.transport.peer_addr)?;
        }
        while connection.poll_read().is_some() {}
        while let Some(event) = connection.poll_event() {
            if let Event::OnConnectionStateChangeEvent(RTCPeerConnectionState::Connected) = event {
                (connected, next_send) = (Some(now), now);
            }
        }
        socket.set_read_timeout(Some(Duration::from_millis(1)))?;
        if let Ok((size, peer_addr)) = socket.recv_from(&mut buffer) {
            let (now, message) = (Instant::now(), bytes::BytesMut::from(&buffer[..size]));
            let transport = TransportContext { local_addr, peer_addr, ..Default::default() };
            connection.handle_read(TaggedBytesMut { now, transport, message })?;
        }
    }
    Ok((sent, estimator))
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("usage: call PEER [SECONDS]")?;
    let seconds = arguments.next().map_or(Ok(10), |seconds| seconds.parse())?;
    let (sent, estimator) = call(&program, Duration::from_secs(seconds))?;
    println!("{sent} packets sent; {:?}; {:?}", estimator.rates(), estimator.counters());
    Ok(())
}

#[test]
fn libwebrtc_receives_and_its_feedback_raises_the_rate() {
    let Some(peer) = std::env::var("WEIR_PEER").ok().filter(|peer| !peer.is_empty()) else {
        return eprintln!("skipped: WEIR_PEER does not name weir-peer (make webrtc)");
    };
    let (sent, estimator) = call(&peer, Duration::from_secs(6)).unwrap();
    let (rates, counters) = (estimator.rates(), estimator.counters());
    assert!(rates.target_bps > 600_000, "{rates:?}");
    assert!(counters.packets_received > sent / 2, "{counters:?} of {sent}");
    assert_eq!((counters.packets_invalid, counters.reports_not_in_history), (0, 0), "{counters:?}");
}
