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


def scaled(luma, width, height):
    """Nearest samples, as the crudest scaler does."""
    rows = np.arange(height) * luma.shape[0] // height
    columns = np.arange(width) * luma.shape[1] // width
    return luma[rows[:, None], columns[None, :]]


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


@pytest.mark.parametrize("number", [0, 1, 299, 0x5555, 0xFFFF])
@pytest.mark.parametrize("size", [(1280, 720), (640, 360), (480, 270), (320, 180), (160, 90), (214, 120)])
def test_it_is_read_at_any_size(number, size):
    luma, _, _ = picture(640, 360, number)
    assert frame_number.read(scaled(luma, *size)) == number


def test_it_is_read_through_coarse_quantisation_and_noise():
    luma, _, _ = picture(640, 360, 271)
    generator = np.random.default_rng(3)
    noisy = np.clip(luma.astype(float) * 0.6 + 40 + generator.normal(0, 25, luma.shape), 0, 255).astype(np.uint8)
    assert frame_number.read(noisy) == 271


def test_a_frame_without_a_code_has_no_number():
    found = [frame_number.read(picture(640, 360, seed=seed)[0]) for seed in range(50)]
    assert found.count(None) >= 48  # one in 256 passes the check sum
    assert frame_number.read(np.full((360, 640), 200, np.uint8)) is None
    assert frame_number.read(np.zeros((20, 30), np.uint8)) is None


def test_one_wrong_bit_is_noticed():
    for block in range(24):
        luma, _, _ = picture(640, 360, 1234)
        part = luma[16:32, 16 * (1 + block) : 16 * (2 + block)]
        part[:] = 251 - part
        assert frame_number.read(luma) is None


@pytest.mark.parametrize("size", [(642, 360), (100, 100), (640, 46), (40, 361), (0, 0)])
def test_sizes_without_room_for_it_are_refused(size):
    with pytest.raises(ValueError, match="multiple of 40"):
        frame_number.check_size(*size)


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="65536"):
        frame_number.write(*picture(640, 360), 65536)
