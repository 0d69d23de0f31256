import numpy as np
import pytest

from weir.qoe_eval.experiments.calls.encoder_lag import fit_encoder_lag, median_lag


def make_call(folder, made_call, rise_s, fall_s, duration_s=80):
    """Targets that jump every few seconds, and an encoder that follows them so."""
    folder.mkdir()
    random = np.random.default_rng(4)
    jumps_s = np.cumsum(random.uniform(0.5, 5.0, 60))
    targets_bps = 10 ** random.uniform(5.0, 6.5, 60)
    estimates = [
        {"type": "estimate", "time_us": round(time * 1e6), "target_rate_bps": target}
        for time, target in zip(jumps_s, targets_bps, strict=True)
    ]
    made_call.write_lines(
        folder / "estimates.jsonl", [*estimates, {"type": "remb"}, {"type": "estimate", "time_us": "?"}]
    )
    now, sent_bits, reports = np.log(3e5), 0.0, []
    for step in range(duration_s * 100):
        target = np.log(min(2.5e6, targets_bps[max(0, np.searchsorted(jumps_s, step / 100) - 1)]))
        constant_s = rise_s if target > now else fall_s
        now += (target - now) * -np.expm1(-0.01 / constant_s)
        sent_bits += 0.9 * np.exp(now) * 0.01
        if step % 100 == 0:
            stream = {
                "id": "v",
                "type": "outbound-rtp",
                "kind": "video",
                "bytesSent": sent_bits / 8,
                "headerBytesSent": 0,
            }
            reports.append({"time_us": step * 10_000, "report": [stream]})
    made_call.write_lines(folder / "sender_stats.jsonl", reports)


@pytest.mark.parametrize(("rise_s", "fall_s"), [(1.4, 0.25), (0.4, 0.8)])
def test_the_lag_of_an_encoder_is_found(tmp_path, made_call, rise_s, fall_s):
    make_call(tmp_path / "call", made_call, rise_s, fall_s)
    lag = fit_encoder_lag(tmp_path / "call", 2.5e6)
    assert lag.rise_time_constant_s == pytest.approx(rise_s, rel=0.15)
    assert lag.fall_time_constant_s == pytest.approx(fall_s, rel=0.25, abs=0.05)
    assert lag.error < 0.1
    assert lag.error_without_lag > 3 * lag.error
    found = median_lag([tmp_path / "call", tmp_path / "nothing"], 2.5e6)
    assert found["rise_time_constant_s"] == round(lag.rise_time_constant_s, 3)


def test_without_logs_there_is_none(tmp_path, made_call):
    assert fit_encoder_lag(tmp_path, 2.5e6) is None
    make_call(tmp_path / "short", made_call, 1.0, 1.0, duration_s=10)
    assert fit_encoder_lag(tmp_path / "short", 2.5e6) is None
    assert median_lag([tmp_path], 2.5e6) == {}
