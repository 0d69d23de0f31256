import numpy as np
import pytest

from weir.qoe_eval.call.media import frame_number


def picture(width, height, number=None, seed=1):
    generator = np.random.default_rng(seed)
    shapes = [(height, width), (height // 2, width // 2), (height // 2, width // 2)]
    planes = [generator.integers(16, 235, shape, dtype=np.uint8) for shape in shapes]
    if number is not None:
        frame_number.write(*planes, number)
    return planes


def test_the_check_sum_is_the_published_one():
    assert frame_number.crc8(b"123456789") == 0xF4
    assert frame_number.crc8(b"") == 0


def test_the_layout_is_what_the_peer_draws():
    luma, u, v = picture(640, 360, 0b1000_0000_0000_0001)
    assert (luma[:48, :416] == 16).sum() + (luma[:48, :416] == 235).sum() == 48 * 416
    assert (luma[16:32, 16:32] == 235).all()  # the most significant bit
    assert (luma[16:32, 32:256] == 16).all()
    assert (luma[16:32, 256:272] == 235).all()  # the least significant bit
    check = [bool(luma[24, 16 * (1 + k) + 8] == 235) for k in range(16, 24)]
    assert check == [bool(frame_number.crc8(b"\x80\x01") >> (7 - bit) & 1) for bit in range(8)]
    assert (u[:24, :208] == 128).all()
    assert (v[:24, :208] == 128).all()
    before = picture(640, 360)
    assert (luma[48:] == before[0][48:]).all()
    assert (luma[:, 416:] == before[0][:, 416:]).all()


@pytest.mark.parametrize("size", [(642, 360), (100, 100), (640, 46), (40, 361), (0, 0)])
def test_sizes_without_room_for_it_are_refused(size):
    with pytest.raises(ValueError, match="multiple of 40"):
        frame_number.check_size(*size)


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="65536"):
        frame_number.write(*picture(640, 360), 65536)
