//! Media in layers: the allocator, and probe clusters on links in simulated time.
mod path;

use path::report;
use rtc::interceptor::{BandwidthEstimator, PacketReport};
use std::time::{Duration, Instant};
use weir::{Config, CongestionState, Estimator, LayerAllocator, LayerRates, MAX_MEDIA_LAYERS, MAX_MEDIA_STREAMS};
use weir::{MediaLayer, MediaStream, Model, NetworkState, PacketKind, SendSideEstimator, SentPacket};

const fn layer(rate_bps: i64, width: i32, height: i32) -> MediaLayer {
    MediaLayer { rate_bps, width, height }
}
const SPEECH: [MediaLayer; 1] = [layer(32_000, 0, 0)];
const SIMULCAST: [MediaLayer; 3] = [layer(150_000, 320, 180), layer(500_000, 640, 360), layer(1_500_000, 1280, 720)];

fn video(id: u32, priority: i32, layers: &[MediaLayer]) -> MediaStream<'_> {
    MediaStream { id, kind: PacketKind::Video, priority, may_pause: true, layers }
}

#[test]
fn layers_follow_the_target() {
    let mut allocator = LayerAllocator::new(0.0, 0).unwrap();
    let audio = MediaStream { kind: PacketKind::Audio, may_pause: false, ..video(1, 0, &SPEECH) };
    allocator.set_streams(&[audio, video(2, 1, &SIMULCAST), video(3, 0, &SIMULCAST)]).unwrap();
    let mut layers = |target, now_us| -> Vec<_> {
        let allocations = allocator.allocate(target, now_us).unwrap();
        allocations.iter().map(|one| (one.id, one.layer, one.forwarded.width, one.reason, one.at_time_us)).collect()
    };
    let start = [(1, Some(0), 0, "start", 5), (2, Some(1), 640, "start", 5), (3, Some(0), 320, "start", 5)];
    assert_eq!(layers(1_000_000, 5), start);
    assert_eq!(layers(1_135_200, 100_000), start);
    assert_eq!(layers(1_135_200, 600_000)[2], (3, Some(1), 640, "headroom", 600_000));
    assert_eq!(layers(-1, 700_000)[1..], [2, 3].map(|id| (id, None, 0, "target_fell", 700_000)));
    assert_eq!(layers(1_000_000, 5)[1], (2, None, 0, "target_fell", 700_000));
    let rates = LayerRates { allocated_rate_bps: 32_000, desired_rate_bps: 3_335_200, next_rate_bps: 200_200 };
    assert_eq!(std::thread::spawn(move || allocator.rates()).join().unwrap(), rates);
}

#[test]
fn invalid_layers_and_rates_are_errors_and_change_nothing() {
    for (margin, wait_us) in [(-1.0, 0), (f64::NAN, 0), (1.1, 0), (0.0, -1), (0.0, i64::MAX)] {
        assert!(LayerAllocator::new(margin, wait_us).is_err_and(|error| error.code == -1), "{margin}, {wait_us}");
    }
    let (mut allocator, one) = (LayerAllocator::new(1.0, 100_000).unwrap(), video(1, 0, &SIMULCAST));
    assert_eq!(allocator.allocate(1, 0), Ok(vec![]));
    allocator.set_streams(&[one]).unwrap();
    let rates = allocator.rates();
    let (falling, endless) = ([SIMULCAST[1], SIMULCAST[0]], [SIMULCAST[0]; MAX_MEDIA_LAYERS + 1]);
    let many: Vec<_> = (0..=MAX_MEDIA_STREAMS as u32).map(|id| MediaStream { id, ..one }).collect();
    let probe = MediaStream { kind: PacketKind::Probe, ..one };
    let wrong = [vec![one, one], vec![video(1, 0, &[])], vec![video(1, 0, &falling)], vec![video(1, 0, &endless)]];
    for streams in wrong.iter().chain([&vec![probe], &many]) {
        let error = allocator.set_streams(streams).unwrap_err();
        assert!(error.code == -1 && error.message.len() > 10, "{error}");
    }
    assert!(allocator.allocate(1, i64::MAX).is_err());
    assert_eq!((allocator.rates(), allocator.allocate(i64::MAX, 0).unwrap()[0].layer), (rates, Some(2)));
    allocator.set_streams(&many[1..]).unwrap();
    assert_eq!(allocator.allocate(i64::MAX, 1).unwrap().len(), MAX_MEDIA_STREAMS);

    let mut sender = SendSideEstimator::new(&Model::shipped().unwrap(), &Config::default()).unwrap();
    for (total, next) in [(0, 0), (-1, 0), (1, -1), (i64::MIN, i64::MIN), (i64::MAX, 0)] {
        assert!(sender.set_desired_rate(total, next).is_err_and(|error| error.code == -1), "{total}, {next}");
    }
    sender.on_sent_packet(&SentPacket { probe_cluster_id: -1, size_bytes: 1, ..Default::default() }).unwrap();
    assert_eq!(sender.take_probe_cluster(), None);
    let start = NetworkState { state: CongestionState::Normal, at_time_us: None, link_capacity_bps: 0 };
    assert_eq!(sender.network_state(), start);
}

/// One layer of 150 kbps on a link for 10 s, whose clusters are filled with retransmissions; returns their bytes, too.
fn layered_call(link_bps: u64) -> (Estimator, u64) {
    let mut estimator = Estimator::new(&Model::shipped().unwrap(), &Config::default()).unwrap();
    estimator.set_desired_rate(1_650_000, 550_000).unwrap();
    estimator.set_retransmission_ssrcs(&[2]);
    let (epoch, mut link_free_us, mut filler_bytes) = (Instant::now(), 0, 0);
    let (mut on_way, mut id) = (Vec::new(), 0);
    let mut cluster = None;
    for now_us in (0..10_000_000).step_by(1_000) {
        let now = epoch + Duration::from_micros(now_us);
        if now_us % 50_000 == 0 {
            let back = Duration::from_micros(now_us.saturating_sub(25_000));
            let arrived = on_way.partition_point(|report: &PacketReport| report.arrival <= Some(back));
            estimator.on_reports(now, &on_way.drain(..arrived).collect::<Vec<_>>());
            if let Some(due) = estimator.take_probe_cluster(now) {
                assert!((550_000..=1_650_000).contains(&due.target_data_rate_bps) && due.id > 0, "{due:?}");
                assert!((15_000..=100_000).contains(&due.target_duration_us) && due.target_probe_count > 1, "{due:?}");
                assert_eq!(estimator.take_probe_cluster(now), None);
                cluster = Some((due, now_us, 0));
            }
        }
        let mut send = |ssrc, size| {
            link_free_us = now_us.max(link_free_us) + size as u64 * 8_000_000 / link_bps;
            let arrival = Duration::from_micros(link_free_us + 25_000);
            on_way.push(PacketReport { ssrc, size, ..report(id, now, Some(arrival)) });
            id += 1;
        };
        if now_us % 32_000 == 0 {
            send(1, 600);
        }
        if let Some((due, since_us, sent)) = &mut cluster {
            let elapsed_us = (now_us - *since_us).min(due.target_duration_us as u64);
            while *sent <= due.target_data_rate_bps as u64 * elapsed_us / 8_000_000 {
                send(2, 200);
                (*sent, filler_bytes) = (*sent + 200, filler_bytes + 200);
            }
        }
    }
    (estimator, filler_bytes)
}

#[test]
fn probes_raise_the_target_to_the_desired_rate() {
    let (estimator, filler_bytes) = layered_call(5_000_000);
    let (counters, state) = (estimator.counters(), estimator.network_state());
    assert!(estimator.target_bitrate() >= 1_650_000.0 && counters.probes_carried > 0, "{counters:?}");
    // Media counts too: a packet of it, and the last of the filler, may be beyond what a cluster needs.
    let beyond = filler_bytes - counters.probe_bytes;
    assert!(beyond <= 800 * counters.probe_clusters && counters.packets_invalid == 0, "{beyond}: {counters:?}");
    assert!(state.state == CongestionState::Normal && state.at_time_us.is_some(), "{state:?}");
}

#[test]
fn a_path_that_carries_no_more_limits_its_probes() {
    let (estimator, _) = layered_call(300_000);
    let counters = estimator.counters();
    assert!(estimator.target_bitrate() < 550_000.0 && counters.probes_limited > 0, "{counters:?}");
    assert_eq!(counters.probes_carried, 0);
}
