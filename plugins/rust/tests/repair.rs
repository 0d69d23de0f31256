//! The choice of repair and the playout delay, as in C.
use weir::{Repair, RepairChoice, max_playout_delay_us};

fn choice(round_trip_us: i64, loss_ratio: f64, feedback_loss_ratio: f64) -> RepairChoice {
    Repair::new().unwrap().choose(0, round_trip_us, loss_ratio, feedback_loss_ratio, 1_000_000).unwrap()
}

#[test]
fn round_trip_and_losses_decide() {
    assert_eq!(choice(30_000, 0.0, 0.0), RepairChoice::Unchanged);
    assert_eq!(choice(0, 0.03, 0.0), RepairChoice::Unchanged);
    assert_eq!(choice(30_000, 0.08, 0.0), RepairChoice::Nack);
    assert_eq!(choice(240_000, 0.03, 0.0), RepairChoice::Fec);
    assert_eq!(choice(30_000, 0.02, 0.4), RepairChoice::Fec);
}

#[test]
fn a_time_out_of_range_is_an_error() {
    assert!(Repair::new().unwrap().choose(0, 30_000, 0.0, 0.0, i64::MAX).is_err());
}

#[test]
fn the_playout_delay_rises_at_once_and_falls_slowly() {
    let calm = max_playout_delay_us(2_000, 20_000, 33_000, 0);
    assert_eq!(calm, 100_000);
    assert_eq!(max_playout_delay_us(40_000, 60_000, 33_000, calm), 250_000);
    assert_eq!(max_playout_delay_us(2_000, 20_000, 33_000, 250_000), 240_000);
}
