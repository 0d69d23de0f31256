// Package vp8 encodes pictures in real time, with libvpx.
package vp8

/*
#cgo pkg-config: vpx
#include "encoder.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// ClockHz is that of video in RTP.
const ClockHz = 90_000

// Encoder is used by one goroutine at a time.
type Encoder struct {
	handle       *C.vp8_encoder
	pictureBytes int
}

// NewEncoder makes one; Close frees it. Width and height are even.
func NewEncoder(width, height, framesPerSecond, rateBps int) (*Encoder, error) {
	if width <= 0 || height <= 0 || width%2 != 0 || height%2 != 0 || framesPerSecond <= 0 || rateBps <= 0 {
		return nil, fmt.Errorf("no VP8 encoder for %dx%d, %d pictures and %d bit/s", width, height, framesPerSecond, rateBps)
	}
	handle := C.vp8_encoder_new(C.uint(width), C.uint(height), C.uint(framesPerSecond), C.uint(rateBps))
	if handle == nil {
		return nil, fmt.Errorf("libvpx makes no encoder for %dx%d", width, height)
	}
	return &Encoder{handle: handle, pictureBytes: width * height * 3 / 2}, nil
}

// Close frees the encoder, which must not be used any more.
func (e *Encoder) Close() { C.vp8_encoder_free(e.handle) }

// SetRate is what the frames from now on are to have, without anything around them.
func (e *Encoder) SetRate(rateBps int) error {
	return failure(C.vp8_encoder_set_rate(e.handle, C.uint(rateBps)))
}

// Encode makes a frame of an I420 picture without padding; none, without an error, where the rate has no room for it.
// The time is in steps of ClockHz, and grows. The frame is valid until the next call.
func (e *Encoder) Encode(picture []byte, time int64, keyFrame bool) ([]byte, error) {
	if len(picture) != e.pictureBytes {
		return nil, errors.New("the picture has another size than the encoder")
	}
	key := C.int(0)
	if keyFrame {
		key = 1
	}
	var frame C.vp8_frame
	data := (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(picture)))
	if err := failure(C.vp8_encoder_encode(e.handle, data, C.int64_t(time), key, &frame)); err != nil {
		return nil, err
	}
	if frame.data == nil {
		return nil, nil
	}
	return unsafe.Slice((*byte)(frame.data), int(frame.size_bytes)), nil
}

// IsKeyFrame tells it of a frame (RFC 6386, 9.1).
func IsKeyFrame(frame []byte) bool { return len(frame) > 0 && frame[0]&1 == 0 }

func failure(code C.int) error {
	if code == 0 {
		return nil
	}
	return errors.New("libvpx: " + C.GoString(C.vp8_encoder_error(code)))
}
