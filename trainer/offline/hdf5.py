"""Arrays of an HDF5 file that is untrusted: no link, no other file, no plug-in, nothing larger than expected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import IO, Any, Final

import numpy as np

from weir.errors import InputError

# Read as a whole, whatever part is needed.
_LARGEST_CHUNK_BYTES: Final = 1 << 26


def read_arrays(
    content: IO[bytes], group: str, shapes: Mapping[str, tuple[int, ...]], most_rows: int, shown: str
) -> dict[str, np.ndarray]:
    """Reads numeric arrays of a group, float32, by their paths in it.

    Args:
        content: the file.
        group: its name.
        shapes: the paths, with the shape of a row each.
        most_rows: the most that an array may have, less one.
        shown: the source, for messages.

    Raises:
        InputError: one is missing, of another shape or type, or too large; or the file is damaged.
    """
    import h5py

    arrays = {}
    try:
        with h5py.File(content, "r") as file:
            for path, row in shapes.items():
                arrays[path] = _read(h5py, file, f"{group}/{path}".split("/"), row, most_rows)
    # A damaged file may raise anything.
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{shown}: {group} is damaged, or not of calls ({reason}); record them again") from None
    return arrays


def _read(h5py: Any, file: Any, path: list[str], row: tuple[int, ...], most_rows: int) -> np.ndarray:
    found = file
    for name in path:
        if not isinstance(found, h5py.Group) or not isinstance(found.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"no {'/'.join(path)}")
        found = found[name]
    if not isinstance(found, h5py.Dataset) or found.dtype.kind not in "bfiu" or found.dtype.itemsize > 8:
        # Minari stores truth values as an enumeration, which h5py shows as bool.
        raise ValueError(f"{'/'.join(path)} is no array of numbers")
    # HDF5 unpacks a chunk to any size that its content has.
    if found.is_virtual or found.external or found.id.get_create_plist().get_nfilters() > 0:
        raise ValueError(f"{'/'.join(path)} is kept in another file, or packed")
    if found.ndim != 1 + len(row) or found.shape[1:] != row or found.shape[0] > most_rows + 1:
        raise ValueError(f"{'/'.join(path)} has the shape {found.shape}")
    if found.chunks is not None and math.prod(found.chunks) * found.dtype.itemsize > _LARGEST_CHUNK_BYTES:
        raise ValueError(f"{'/'.join(path)} has chunks that are too large")
    with np.errstate(over="ignore"):
        return found[()].astype(np.float32)
