"""Writes the C++ source that implements shipped_model.h.

    embed_model.py MODEL SOURCE

Runs in the builds of libwebrtc and Chromium (BUILD.gn) with their Python, so it uses only the standard library.
"""

import sys
from pathlib import Path

_BYTES_PER_LINE = 30
_BEGIN = """// Made by embed_model.py.
#include "shipped_model.h"

namespace weir {
namespace {

constexpr unsigned char kModel[] = {
"""
_END = """};

}  // namespace

std::span<const std::byte> ShippedModel() { return std::as_bytes(std::span(kModel)); }

}  // namespace weir
"""


def source_of(model: bytes) -> str:
    """Returns the text of the C++ source that embeds a model."""
    starts = range(0, len(model), _BYTES_PER_LINE)
    lines = (",".join(map(str, model[start : start + _BYTES_PER_LINE])) + ",\n" for start in starts)
    return _BEGIN + "".join(lines) + _END


def main() -> int:
    """Reads MODEL and writes SOURCE."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    model, source = map(Path, sys.argv[1:])
    source.write_text(source_of(model.read_bytes()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
