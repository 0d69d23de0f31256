package main

import "encoding/binary"

// frameInfo is what a server reads of a VP8 payload: its descriptor (RFC 7741, 4.2) and the header of a key frame (9.1
// of RFC 6386).
type frameInfo struct {
	// Where the descriptor has its picture ID and TL0PICIDX; 0: nowhere.
	pictureAt, tl0At int
	// wide: the picture ID has 15 bits, not 7.
	wide bool
	// keyFrame: the packet is the first of one, of this size.
	keyFrame      bool
	width, height int32
}

// readVP8 reads a payload; what is no VP8, such as padding, has nothing.
func readVP8(payload []byte) frameInfo {
	var info frameInfo
	if len(payload) < 2 {
		return info
	}
	at := 1
	if payload[0]&0x80 != 0 {
		extensions := payload[1]
		at = 2
		if extensions&0x80 != 0 {
			if len(payload) < at+2 {
				return frameInfo{}
			}
			info.pictureAt, info.wide = at, payload[at]&0x80 != 0
			if at++; info.wide {
				at++
			}
		}
		if extensions&0x40 != 0 {
			info.tl0At = at
			at++
		}
		if extensions&0x30 != 0 {
			at++
		}
	}
	if len(payload) <= at {
		return frameInfo{}
	}
	const startsFrame, frameBits = 0x10, 0x17
	frame := payload[at:]
	if payload[0]&frameBits == startsFrame && frame[0]&1 == 0 {
		info.keyFrame = true
		const startCode, sizeEnds = 3, 10
		if len(frame) >= sizeEnds && [3]byte(frame[startCode:]) == [3]byte{0x9d, 0x01, 0x2a} {
			info.width = int32(binary.LittleEndian.Uint16(frame[6:]) & 0x3fff)
			info.height = int32(binary.LittleEndian.Uint16(frame[8:]) & 0x3fff)
		}
	}
	return info
}

// pictureID of a payload that has one.
func (i frameInfo) pictureID(payload []byte) uint16 {
	if i.wide {
		return binary.BigEndian.Uint16(payload[i.pictureAt:]) & 0x7fff
	}
	return uint16(payload[i.pictureAt] & 0x7f)
}

// setPictureID writes as many bits as there are.
func (i frameInfo) setPictureID(payload []byte, id uint16) {
	if i.wide {
		binary.BigEndian.PutUint16(payload[i.pictureAt:], 0x8000|id&0x7fff)
	} else {
		payload[i.pictureAt] = byte(id & 0x7f)
	}
}
