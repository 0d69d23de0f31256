//! The wrapper and the estimator: wrong use, hostile reports and a bottleneck, in simulated time.
mod path;

use path::{path, random, report, run, summary};
use rtc::interceptor::{BandwidthEstimator, PacketReport};
use std::time::{Duration, Instant};
use weir::{Config, Estimator, Model, PacketFeedback, SendSideEstimator, SentPacket, TargetRateConstraints};

const START: f64 = 300_000.0;

fn estimator() -> Estimator {
    Estimator::new(&Model::shipped().unwrap(), &Config::default()).unwrap()
}

/// Ten packets in each 100 ms of `count`, that is 960 kbps, each 30 ms on its way, from the second `from` on.
fn steady(estimator: &mut Estimator, epoch: Instant, from: u64, count: u64, clock: Duration) {
    for message in from * 10..from * 10 + count {
        let reports: Vec<_> = (message * 10..message * 10 + 10)
            .map(|id| report(id, epoch + Duration::from_millis(id * 10), Some(clock + Duration::from_millis(id * 10))))
            .collect();
        estimator.on_reports(epoch + Duration::from_millis(message * 100 + 160), &reports);
    }
}

#[test]
fn a_bad_model_is_an_error_with_a_sentence() {
    for onnx in [&b""[..], b"no model", &[0; 4096]] {
        let error = Model::load(onnx).err().expect("an error");
        assert!(error.code < 0 && error.message.len() > 10, "{error}");
    }
}

#[test]
fn bad_configurations_and_constraints_are_errors_and_change_nothing() {
    let (model, good) = (Model::shipped().unwrap(), Config::default());
    for bad in [
        Config { constraints: TargetRateConstraints { min_rate_bps: 0, ..good.constraints }, ..good },
        Config { constraints: TargetRateConstraints { max_rate_bps: 1, ..good.constraints }, ..good },
        Config { constraints: TargetRateConstraints { max_media_rate_bps: -1, ..good.constraints }, ..good },
        Config { objective: [0.0, 0.5, 0.5], ..good },
        Config { objective: [f32::NAN; 3], ..good },
    ] {
        let error = Estimator::new(&model, &bad).err();
        assert!(error.is_some_and(|error| error.code == -1 && error.message.len() > 10), "{bad:?}");
    }
    let estimator = estimator();
    let reversed = TargetRateConstraints { min_rate_bps: 3, max_rate_bps: 1, ..good.constraints };
    assert!(estimator.set_constraints(&reversed).is_err());
    assert!(estimator.set_objective([-1.0, 1.0, 1.0]).is_err());
    assert_eq!((estimator.target_bitrate(), estimator.rates().reason), (START, "start"));
    let narrow = TargetRateConstraints {
        min_rate_bps: 50_000,
        start_rate_bps: 60_000,
        max_rate_bps: 70_000,
        ..Default::default()
    };
    estimator.set_constraints(&narrow).unwrap();
    assert_eq!(estimator.target_bitrate(), 60_000.0);
}

#[test]
fn the_wrapper_counts_and_refuses_impossible_times() {
    let model = Model::shipped().unwrap();
    let mut sender = SendSideEstimator::new(&model, &Config::default()).unwrap();
    drop(model);
    assert_eq!((sender.next_timeout_us(), sender.rates().congestion_window_bytes), (None, i64::MAX));
    for (sequence_number, size_bytes) in [(0, 1200), (0, 1200), (1, 0), (2, 65_536), (3, u32::MAX)] {
        sender.on_sent_packet(&SentPacket { sequence_number, size_bytes, ..Default::default() }).unwrap();
    }
    let received = |number| PacketFeedback::received(number, i64::MAX);
    assert_eq!(sender.on_transport_feedback(&[received(0)], i64::MAX).unwrap_err().code, -1);
    assert!(sender.on_timeout(i64::MIN).is_err() && sender.on_round_trip_time(-1, 0).is_err());
    assert!(sender.on_transport_feedback(&vec![received(9); 65_537], 0).is_err());
    sender.on_transport_feedback(&[received(0), received(7)], 60_000).unwrap();
    let counters = sender.counters();
    assert_eq!((counters.packets_invalid, counters.reports_not_in_history), (4, 1), "{counters:?}");
    std::thread::spawn(move || drop(sender)).join().unwrap();
}

#[test]
fn a_clone_is_the_same_estimator_on_another_thread() {
    let mut chain: Box<dyn BandwidthEstimator> = Box::new(estimator());
    assert_eq!(chain.poll_timeout(), None);
    chain.handle_timeout(Instant::now());
    chain.on_reports(Instant::now(), &[]);
    assert_eq!((chain.poll_timeout(), chain.stats()), (None, Default::default()));
    let estimator = estimator();
    let mut clone = estimator.clone();
    std::thread::spawn(move || steady(&mut clone, Instant::now(), 0, 30, Duration::ZERO)).join().unwrap();
    assert!(estimator.target_bitrate() > START, "{:?}", estimator.rates());
    let stats = estimator.stats();
    assert_eq!((stats.packet_loss, stats.round_trip_time), (Some(0.0), Some(Duration::from_millis(70))));
}

#[test]
fn duplicate_and_reordered_reports_count_once() {
    let (mut estimator, epoch) = (estimator(), Instant::now());
    steady(&mut estimator, epoch, 0, 20, Duration::ZERO);
    let rate = estimator.target_bitrate();
    steady(&mut estimator, epoch, 0, 20, Duration::ZERO);
    // The latest of 200 waits for its successors.
    assert_eq!((estimator.counters().packets_received, estimator.target_bitrate()), (199, rate));
}

#[test]
fn packets_without_a_time_are_neither_lost_nor_delayed() {
    let (mut estimator, epoch) = (estimator(), Instant::now());
    steady(&mut estimator, epoch, 0, 20, Duration::ZERO);
    let at = |id: u64| epoch + Duration::from_millis(id * 10);
    let untimed = PacketReport { arrived: true, ..report(200, at(200), None) };
    let timed = report(201, at(201), Some(Duration::from_millis(2_010)));
    estimator.on_reports(at(208), &[untimed, timed]);
    estimator.on_reports(at(218), &[report(202, at(202), Some(Duration::from_millis(2_020)))]);
    let counters = estimator.counters();
    assert_eq!((counters.packets_lost, counters.packets_fate_unknown), (0, 1), "{counters:?}");
}

#[test]
fn a_step_of_the_receivers_clock_is_accepted() {
    let (mut estimator, epoch) = (estimator(), Instant::now());
    steady(&mut estimator, epoch, 0, 50, Duration::from_secs(1_073_741));
    let before = estimator.target_bitrate();
    // The 24 bits of transport-wide feedback wrap.
    steady(&mut estimator, epoch, 5, 100, Duration::ZERO);
    assert_eq!(estimator.counters().clock_restarts, 1);
    assert!(estimator.target_bitrate() > 0.7 * before, "{:?}", estimator.rates());
}

#[test]
fn without_feedback_timeouts_lower_the_rate_and_never_spin() {
    let (mut estimator, epoch) = (estimator(), Instant::now());
    steady(&mut estimator, epoch, 0, 50, Duration::ZERO);
    let (before, mut now) = (estimator.target_bitrate(), epoch + Duration::from_secs(5));
    let mut timeouts = 0;
    while let Some(next) = estimator.poll_timeout().filter(|_| now < epoch + Duration::from_secs(15)) {
        now = now.max(next);
        estimator.handle_timeout(now);
        assert!(estimator.poll_timeout().is_none_or(|next| next > now));
        timeouts += 1;
    }
    assert!(estimator.target_bitrate() < 0.5 * before, "{before}: {:?}", estimator.rates());
    assert!((10..1000).contains(&timeouts), "{timeouts}");
}

#[test]
fn a_million_random_reports_leave_the_rate_finite_and_bounded() {
    let (mut estimator, epoch, mut rng) = (estimator(), Instant::now() + Duration::from_secs(1 << 20), 1);
    let mut pick = |below: u64| (random(&mut rng) * below as f64) as u64;
    for message in 0..10_000u64 {
        let now = epoch + Duration::from_millis(message * 20);
        let mut reports: Vec<_> = (0..100)
            .map(|index| {
                let time = match pick(8) {
                    0 => Duration::MAX,
                    1 => Duration::from_secs(pick(1 << 40)),
                    _ => Duration::from_millis(message * 20 + pick(100)),
                };
                let departure = now - Duration::from_millis(pick(if message % 10 == 0 { 1 << 29 } else { 100 }));
                let arrival = (pick(5) > 0).then_some(time);
                let size = [0, 1200, 65_535, 65_536, usize::MAX][pick(5) as usize];
                PacketReport { size, arrived: pick(5) > 0, ..report(message * 100 + index, departure, arrival) }
            })
            .collect();
        if message % 7 == 0 {
            reports.reverse();
        }
        // The host's clock may step too.
        let now = if message % 50 == 0 { now - Duration::from_secs(pick(1 << 19)) } else { now };
        estimator.on_reports(now, &reports);
        estimator.handle_timeout(now + Duration::from_millis(pick(20)));
        let rate = estimator.target_bitrate();
        assert!((30_000.0..=50_000_000.0).contains(&rate), "{message}: {rate}");
        assert!(estimator.poll_timeout().is_none_or(|next| next > now));
    }
    assert!(estimator.counters().packets_received > 10_000);
}

#[test]
fn one_call_may_have_more_reports_than_the_library_remembers_packets() {
    let (mut estimator, epoch) = (estimator(), Instant::now());
    let reports: Vec<_> = (0..70_000).map(|id| report(id, epoch, Some(Duration::from_micros(id)))).collect();
    estimator.on_reports(epoch + Duration::from_secs(1), &reports);
    assert_eq!(estimator.counters().packets_received, 69_999);
}

#[test]
fn the_rate_rises_to_the_capacity_and_falls_with_it() {
    let halves = path("1, then 0.5 Mbps", |second| if second < 30 { 1_000_000 } else { 500_000 });
    let mut estimator = estimator();
    let arrivals = run(halves, &mut estimator, 60, 1);
    let ((rate, delay), (low_rate, low_delay)) = (summary(&arrivals, 10, 30), summary(&arrivals, 40, 60));
    assert!((800_000.0..=1_010_000.0).contains(&rate), "{rate}");
    assert!((400_000.0..=505_000.0).contains(&low_rate), "{low_rate}");
    // One packet and the path.
    let least = 9.6 + 25.0;
    assert!((least..least + 100.0).contains(&delay), "{delay}");
    assert!((least..least + 150.0).contains(&low_delay), "{low_delay}");
    assert!(estimator.rates().target_bps < 600_000, "{:?}", estimator.rates());
}
