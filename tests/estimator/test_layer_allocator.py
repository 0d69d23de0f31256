"""weir.LayerAllocator: what the binding adds to the C++ class, and its promises for any targets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weir

LAYERS = [(150_000, 320, 180), (500_000, 640, 360), (1_500_000, 1280, 720)]
NEVER = 2**63 - 1


def test_an_example_from_start_to_fall() -> None:
    allocator = weir.LayerAllocator()
    assert allocator.allocate(1_000_000, 0) == []
    assert (allocator.allocated_rate_bps, allocator.desired_rate_bps, allocator.next_rate_bps) == (0, 0, 0)
    audio = weir.MediaStream(1, [(32_000, 0, 0)], kind="audio")
    allocator.set_streams([audio, weir.MediaStream(2, LAYERS, priority=1), weir.MediaStream(3, LAYERS)])
    first = allocator.allocate(1_000_000, 0)
    assert [one.layer for one in first] == [0, 1, 0]
    assert [one.id for one in first] == [1, 2, 3]
    assert {one.reason for one in first} == {"start"}
    assert (first[1].rate_bps, first[1].width, first[1].height, first[1].at_time_us) == (500_000, 640, 360, 0)
    assert allocator.allocated_rate_bps == 682_000
    assert allocator.desired_rate_bps == 3_335_200
    assert allocator.next_rate_bps == 1_135_200
    for now_us in range(100_000, 700_000, 100_000):
        allocations = allocator.allocate(1_135_200, now_us)
    assert [(one.layer, one.reason, one.at_time_us) for one in allocations] == [
        (0, "start", 0),
        (1, "start", 0),
        (1, "headroom", 600_000),
    ]
    fallen = allocator.allocate(0, 700_000)
    assert [one.layer for one in fallen] == [0, -1, -1]
    assert (fallen[2].reason, fallen[2].rate_bps, fallen[2].width) == ("target_fell", 0, 0)
    # Times that run backwards change nothing.
    assert [one.layer for one in allocator.allocate(10**9, 0)] == [0, -1, -1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"layers": []}, "stream 4: it must have 1 to 12 layers"),
        ({"layers": [(0, 1, 1)]}, "layer 0's rate must be finite and above 0"),
        ({"layers": [(2, 1, 1), (2, 1, 1)]}, "layer 1's rate"),
        ({"layers": [(NEVER, 1, 1)]}, "layer 0's rate"),
        ({"layers": [(5, -1, 1)]}, "width and height"),
        ({"kind": "probe"}, "kind must be video or audio"),
        ({"kind": "text"}, "no packet kind 'text'"),
        ({"id": -1}, "id must be within"),
        ({"id": 3}, "two streams have the id 3"),
    ],
)
def test_refuses_invalid_streams_and_keeps_the_former(change, words) -> None:
    allocator = weir.LayerAllocator()
    allocator.set_streams([weir.MediaStream(3, LAYERS)])
    with pytest.raises(ValueError, match=words):
        allocator.set_streams([weir.MediaStream(3, LAYERS), weir.MediaStream(**{"id": 4, "layers": LAYERS} | change)])
    assert allocator.desired_rate_bps == 1_650_000


@pytest.mark.parametrize("arguments", [{"margin": 0.0}, {"margin": float("nan")}, {"wait_us": 99_999}, {"wait_us": -1}])
def test_refuses_an_invalid_configuration(arguments) -> None:
    with pytest.raises(ValueError, match="must be"):
        weir.LayerAllocator(**arguments)


def test_refuses_times_and_targets_that_are_none() -> None:
    allocator = weir.LayerAllocator()
    with pytest.raises(ValueError, match="now_us is not a time"):
        allocator.allocate(1, 2**63 - 1)
    for target in (float("nan"), 2**63, None):
        with pytest.raises(TypeError):
            allocator.allocate(target, 0)  # type: ignore[arg-type]


RATES = st.lists(st.integers(20_000, 900_000), min_size=1, max_size=4)
STREAM = st.tuples(RATES, st.booleans(), st.integers(0, 2), st.booleans())
STEP = st.tuples(st.one_of(st.integers(0, 5_000_000), st.sampled_from([-1, 0, NEVER])), st.integers(0, 2_000_000))


@settings(deadline=None)
@given(st.lists(STREAM, min_size=1, max_size=6), st.lists(STEP, min_size=1, max_size=60))
def test_keeps_its_promises_for_any_targets(given_streams, steps) -> None:
    streams, required = [], []
    for number, (rates, is_audio, priority, may_pause) in enumerate(given_streams):
        layers = [(sum(rates[: i + 1]), 1, 1) for i in range(len(rates))]
        kind = "audio" if is_audio else "video"
        streams.append(weir.MediaStream(number, layers, kind=kind, priority=priority, may_pause=may_pause))
        required.append(rates[0] if is_audio or not may_pause else 0)
    allocator, twin = weir.LayerAllocator(), weir.LayerAllocator()
    allocator.set_streams(streams)
    twin.set_streams(streams)
    now_us, excess_since_us = 0, None
    for target, step_us in steps:
        now_us += step_us
        exceeds = allocator.allocated_rate_bps > target
        excess_since_us = (now_us if excess_since_us is None else excess_since_us) if exceeds else None
        allocations = allocator.allocate(target, now_us)
        assert [one.layer for one in allocations] == [one.layer for one in twin.allocate(target, now_us)]
        total = sum(one.rate_bps for one in allocations)
        assert total == allocator.allocated_rate_bps
        is_graced = excess_since_us is not None and total <= 1.1 * target and now_us - excess_since_us <= 1_000_000
        assert total <= max(target, sum(required)) or is_graced
        assert all(one.layer >= 0 for one, rate in zip(allocations, required, strict=True) if rate)
        reasons = {one.reason for one in allocations if one.at_time_us == now_us}
        assert step_us == 0 or not {"target_fell", "headroom"} <= reasons
