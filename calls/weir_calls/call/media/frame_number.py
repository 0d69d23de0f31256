"""The bar code that carries a frame's number through encoder, network and decoder. weir-peer reads it.

One row of 24 blocks: 16 bits of number (most significant first) and 8 bits of CRC-8 (polynomial 0x07, initial value
0) of its two bytes. The width and height b of a block are a fortieth of the picture's width; block k covers x in
[b (1 + k), b (2 + k)), y in [b, 2 b). Luma 235 is 1, 16 is 0; a border of luma 16, one block wide, surrounds the row.
The code survives scaling.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BITS = 24
BLOCKS_PER_WIDTH = 40
HIGHEST_NUMBER = 0xFFFF
_WHITE, _BLACK, _NEUTRAL_CHROMA = 235, 16, 128

Plane = NDArray[np.uint8]


def crc8(data: bytes) -> int:
    """CRC-8, polynomial 0x07, initial value 0."""
    register = 0
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = ((register << 1) ^ 0x07) & 0xFF if register & 0x80 else register << 1
    return register


def check_size(width: int, height: int) -> None:
    """Checks that a bar code can be drawn in a picture of this size.

    Raises:
        ValueError: the width is not a multiple of 40, a side is odd, or the row does not fit into the height.
    """
    if width <= 0 or width % BLOCKS_PER_WIDTH or width % 2 or height % 2 or height < 3 * width // BLOCKS_PER_WIDTH:
        raise ValueError(f"{width}x{height}: the width must be a multiple of 40, and both sides even and large enough")


def write(luma: Plane, u: Plane, v: Plane, number: int) -> None:
    """Draws a number into the planes of an I420 frame.

    Args:
        luma: shape [height, width], writable; the width a multiple of 40.
        u: shape [height / 2, width / 2].
        v: as `u`.
        number: 0..65535.

    Raises:
        ValueError: the number or the size does not fit.
    """
    height, width = luma.shape
    check_size(width, height)
    if not 0 <= number <= HIGHEST_NUMBER:
        raise ValueError(f"frame number {number}: not in 0..{HIGHEST_NUMBER}")
    block = width // BLOCKS_PER_WIDTH
    luma[: 3 * block, : (BITS + 2) * block] = _BLACK
    for plane in (u, v):
        plane[: (3 * block + 1) // 2, : (BITS + 2) * block // 2] = _NEUTRAL_CHROMA
    content = number.to_bytes(2, "big")
    bits = int.from_bytes(content + bytes([crc8(content)]), "big")
    for k in range(BITS):
        if bits >> (BITS - 1 - k) & 1:
            luma[block : 2 * block, block * (1 + k) : block * (2 + k)] = _WHITE
