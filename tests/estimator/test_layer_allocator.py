"""weir.LayerAllocator: what the binding adds to the C++ class (layer_allocator_test.cc)."""

from __future__ import annotations

import pytest

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
        ({"layers": [(NEVER, 1, 1)]}, "layer 0's rate"),
        ({"kind": "text"}, "no packet kind 'text'"),
        ({"id": -1}, "id must be within"),
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
