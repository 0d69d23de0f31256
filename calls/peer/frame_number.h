// Draws and reads the frame number of a picture as a bar code that survives encoding and scaling.
//
// The bar code is a row of 24 blocks of b = width / 40 pixels: block k covers x in [b (1 + k), b (2 + k)) and y in
// [b, 2 b), with luma 235 for a one and 16 for a zero. The 16 bits of the number come first, then the 8 bits of their
// CRC-8 (polynomial 0x07), each with its highest bit first. A margin of one block with luma 16 surrounds the row.
#ifndef WEIR_CALLS_PEER_FRAME_NUMBER_H_
#define WEIR_CALLS_PEER_FRAME_NUMBER_H_

#include <cstdint>
#include <optional>

#include "api/video/i420_buffer.h"

namespace weir::peer {

// Frames narrower than this have no number.
inline constexpr int kMinNumberedWidth = 80;

// Overwrites the top left corner. The width must be a multiple of 40 and at least kMinNumberedWidth, and the height at
// least 3 / 40 of the width.
void DrawFrameNumber(uint16_t number, webrtc::I420Buffer& frame);

// Works at any size if the picture was scaled in proportion. nullopt if it is too small or the CRC is wrong.
std::optional<uint16_t> ReadFrameNumber(const webrtc::I420BufferInterface& frame);

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_FRAME_NUMBER_H_
