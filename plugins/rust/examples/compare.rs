//! Received rate and p95 one-way delay of Weir and of webrtc-rs's own GCC on simulated paths, in simulated time.
#[path = "../tests/path/mod.rs"]
mod path;

use path::{Path, path, run, summary};
use rtc::interceptor::{BandwidthEstimator, Gcc};
use weir::{Config, Estimator, Model};

const SECONDS: u64 = 60;
const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];
const PATHS: [Path; 8] = [
    path("0.5 Mbps", |_| 500_000),
    path("1 Mbps", |_| 1_000_000),
    path("3 Mbps", |_| 3_000_000),
    path("2, then 1 Mbps", |second| if second < 30 { 2_000_000 } else { 1_000_000 }),
    path("1, then 2 Mbps", |second| if second < 30 { 1_000_000 } else { 2_000_000 }),
    path("1.5 and 0.75 Mbps, 5 s each", |second| if second / 5 % 2 == 0 { 1_500_000 } else { 750_000 }),
    Path { loss: 0.05, ..path("1 Mbps, 5 % loss", |_| 1_000_000) },
    Path { jitter_us: 30_000, ..path("1 Mbps, jitter 30 ms", |_| 1_000_000) },
];

/// The means over the seeds: kbps and ms.
fn mean(path: Path, make: impl Fn() -> Box<dyn BandwidthEstimator>) -> (f64, f64) {
    let runs = SEEDS.map(|seed| summary(&run(path, make().as_mut(), SECONDS, seed), 0, SECONDS));
    let mean = |pick: fn(&(f64, f64)) -> f64| runs.iter().map(pick).sum::<f64>() / runs.len() as f64;
    (mean(|run| run.0) / 1000.0, mean(|run| run.1))
}

fn main() {
    let model = Model::shipped().expect("the shipped model");
    let config = Config::default();
    let rates = config.constraints;
    let [min, start, max] = [rates.min_rate_bps, rates.start_rate_bps, rates.max_rate_bps].map(|rate| rate as f64);
    println!("| path | Weir, kbps | GCC, kbps | ratio | Weir p95, ms | GCC p95, ms |\n|---|---|---|---|---|---|");
    let mut reached = 0;
    for path in PATHS {
        let (rate, delay) = mean(path, || Box::new(Estimator::new(&model, &config).expect("an estimator")));
        let (gcc_rate, gcc_delay) = mean(path, || Box::new(Gcc::new(start, min, max)));
        let ratio = rate / gcc_rate;
        println!("| {} | {rate:.0} | {gcc_rate:.0} | {ratio:.2} | {delay:.0} | {gcc_delay:.0} |", path.name);
        reached += usize::from(ratio >= 1.2 && delay <= gcc_delay);
    }
    println!("\n1.2 times the rate at no more delay: {reached} of {} paths", PATHS.len());
}
