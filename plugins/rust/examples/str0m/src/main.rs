//! Weir at a str0m sender against str0m's own estimator, over the paths of str0m's tests (tests/bwe), in simulated time.
mod call;
mod controller;

use call::{Estimator, Measures, call};
use netem::{Bitrate, DataSize, NetemConfig, Probability, RandomLoss};
use std::error::Error;
use std::time::Duration;

const SEEDS: [u64; 3] = [42, 43, 44];

type Path = (&'static str, Vec<(NetemConfig, Duration)>);

fn link(rate: Bitrate, buffer_kbytes: i64, latency_ms: u64, jitter_ms: u64) -> NetemConfig {
    NetemConfig::new()
        .latency(Duration::from_millis(latency_ms))
        .jitter(Duration::from_millis(jitter_ms))
        .link(rate, DataSize::kbytes(buffer_kbytes))
}

fn paths() -> Vec<Path> {
    let steady = |config| vec![(config, Duration::from_secs(50))];
    let phases = |phases: &[(NetemConfig, u64)]| {
        phases.iter().map(|(config, seconds)| (*config, Duration::from_secs(*seconds))).collect()
    };
    let (high, low) = (link(Bitrate::mbps(10), 200, 10, 2), link(Bitrate::kbps(800), 50, 10, 20));
    let (near, far) = (link(Bitrate::mbps(5), 100, 20, 0), link(Bitrate::mbps(5), 100, 150, 0));
    let lossless = link(Bitrate::mbps(5), 150, 10, 0);
    let lossy = lossless.loss(RandomLoss::new(Probability::new(0.15)));
    let tenth = link(Bitrate::mbps(5), 100, 20, 5).loss(RandomLoss::new(Probability::new(0.10)));
    vec![
        ("cellular", steady(NetemConfig::cellular())),
        ("wifi", steady(NetemConfig::wifi())),
        ("congested", steady(NetemConfig::congested())),
        ("10, 0.8, 10 Mbps", phases(&[(high, 20), (low, 15), (high, 40)])),
        ("10 % loss", steady(tenth)),
        ("0, 15, 0 % loss", phases(&[(lossless, 5), (lossy, 5), (lossless, 5)])),
        ("20, 150, 20 ms", phases(&[(near, 5), (far, 3), (near, 10)])),
        ("3 Mbps, 20 ms", steady(link(Bitrate::mbps(3), 100, 20, 0))),
    ]
}

fn seeded(phases: &[(NetemConfig, Duration)], seed: u64) -> Vec<(NetemConfig, Duration)> {
    phases.iter().map(|(config, duration)| (config.seed(seed), *duration)).collect()
}

/// Mean over the seeds.
fn mean(measures: &[Measures], value: impl Fn(&Measures) -> f64) -> f64 {
    measures.iter().map(value).sum::<f64>() / measures.len() as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "| path | kbps | str0m, kbps | delay p95, ms | str0m, ms | lost, % | str0m, % |\n|---|---|---|---|---|---|---|"
    );
    for (name, phases) in paths() {
        let calls = |estimator| -> Result<Vec<Measures>, Box<dyn Error>> {
            SEEDS.iter().map(|seed| call(estimator, &seeded(&phases, *seed))).collect()
        };
        let (weir, own) = (calls(Estimator::Weir)?, calls(Estimator::Str0m)?);
        let both = |value: &dyn Fn(&Measures) -> f64| (mean(&weir, value), mean(&own, value));
        let (rate, own_rate) = both(&|m| 1e-3 * m.received_bps);
        let (delay, own_delay) = both(&|m| 1e3 * m.delay_p95.as_secs_f64());
        let (lost, own_lost) = both(&|m| 1e2 * m.lost_ratio);
        println!("| {name} | {rate:.0} | {own_rate:.0} | {delay:.0} | {own_delay:.0} | {lost:.1} | {own_lost:.1} |");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_one_mbps(estimator: Estimator) -> Measures {
        call(estimator, &[(link(Bitrate::mbps(1), 40, 25, 0).seed(1), Duration::from_secs(20))]).unwrap()
    }

    #[test]
    fn a_str0m_sender_under_weir_uses_most_of_the_link() {
        let measures = on_one_mbps(Estimator::Weir);
        assert!((700_000.0..1_000_000.0).contains(&measures.received_bps), "{measures:?}");
        assert!(measures.delay_p95 < Duration::from_millis(250), "{measures:?}");
    }

    #[test]
    fn str0ms_own_estimator_decides_without_weir() {
        let measures = on_one_mbps(Estimator::Str0m);
        assert!((100_000.0..1_000_000.0).contains(&measures.received_bps), "{measures:?}");
    }

    #[test]
    fn packets_that_arrive_together_all_count() {
        let path = link(Bitrate::mbps(100), 200, 20, 10).seed(1);
        let measures = call(Estimator::Weir, &[(path, Duration::from_secs(5))]).unwrap();
        assert!(measures.lost_ratio < 0.05, "{measures:?}");
    }
}
