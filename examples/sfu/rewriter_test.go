package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
)

// vp8Payload has a descriptor with a picture ID of 7 or 15 bits, TL0PICIDX and a temporal layer.
func vp8Payload(pictureID uint16, wide, keyFrame bool, tl0 byte) []byte {
	payload := []byte{0x90, 0xe0}
	if wide {
		payload = append(payload, 0x80|byte(pictureID>>8), byte(pictureID))
	} else {
		payload = append(payload, byte(pictureID&0x7f))
	}
	payload = append(payload, tl0, 0)
	if keyFrame {
		return append(payload, 0x10, 0, 0, 0x9d, 0x01, 0x2a, 0x80, 0x42, 0xe0, 0x01)
	}
	return append(payload, 0x11, 0, 0)
}

func TestVP8IsReadAsPionReadsIt(t *testing.T) {
	for _, wide := range []bool{false, true} {
		for _, id := range []uint16{0, 1, 127, 128, 0x7fff} {
			payload := vp8Payload(id, wide, true, 200)
			info := readVP8(payload)
			if !info.keyFrame || info.width != 640 || info.height != 480 {
				t.Fatalf("%+v", info)
			}
			for _, shift := range []uint16{0, 1, 0x7fff} {
				info.setPictureID(payload, id+shift)
				var read codecs.VP8Packet
				if _, err := read.Unmarshal(payload); err != nil || read.PictureID != info.pictureID(payload) {
					t.Errorf("%+v, %v", read, err)
				}
				if mask := map[bool]uint16{false: 0x7f, true: 0x7fff}[wide]; read.PictureID != (id+shift)&mask {
					t.Errorf("%d + %d is %d", id, shift, read.PictureID)
				}
			}
		}
	}
	if info := readVP8(vp8Payload(1, true, false, 0)); info.keyFrame {
		t.Error("a key frame")
	}
	if info := readVP8([]byte{0x10, 0}); info.pictureAt+info.tl0At != 0 || !info.keyFrame {
		t.Errorf("%+v", info)
	}
	// The second partition, or the second packet, of a key frame does not begin it.
	for _, first := range []byte{0x00, 0x11} {
		if info := readVP8([]byte{first, 0}); info.keyFrame {
			t.Errorf("%x begins a key frame", first)
		}
	}
}

func FuzzVP8(f *testing.F) {
	f.Add(vp8Payload(0x7fff, true, true, 1))
	f.Add([]byte{0x90, 0xff})
	f.Fuzz(func(t *testing.T, payload []byte) {
		info := readVP8(payload)
		if _, err := (&codecs.VP8Packet{}).Unmarshal(payload); info != (frameInfo{}) && err != nil {
			t.Errorf("%x: %v", payload, err)
		}
		if info.pictureAt > 0 {
			info.setPictureID(payload, info.pictureID(payload)+1)
		}
	})
}

// sent is what a receiver sees.
func (r *rewriter) sent(number uint16, timestamp uint32, pictureID uint16, wide bool) string {
	header, payload := &rtp.Header{SequenceNumber: number, Timestamp: timestamp}, vp8Payload(pictureID, wide, false, 0)
	info := readVP8(payload)
	if !r.rewrite(header, payload, info) {
		return "dropped"
	}
	return fmt.Sprint(header.SequenceNumber, header.Timestamp, info.pictureID(payload))
}

func (r *rewriter) beginAt(number uint16, timestamp uint32, pictureID uint16, wide bool, elapsed uint32) {
	payload := vp8Payload(pictureID, wide, true, 9)
	info := readVP8(payload)
	r.begin(&rtp.Header{SequenceNumber: number, Timestamp: timestamp}, payload, info, elapsed)
}

func TestAStreamContinuesOverASwitchAndPadding(t *testing.T) {
	var r rewriter
	var got []string
	add := func(number uint16, timestamp uint32, pictureID uint16) {
		got = append(got, r.sent(number, timestamp, pictureID, true))
	}
	pad := func() {
		number, timestamp := r.pad()
		got = append(got, fmt.Sprint(number, timestamp))
	}
	r.beginAt(65_534, 1000, 0x7ffe, true, 0)
	add(65_534, 1000, 0x7ffe)
	add(65_535, 4000, 0x7fff)
	pad()
	pad()
	// One is late; it was before the padding, those that follow after.
	add(1, 10_000, 1)
	add(65_535, 4000, 0x7fff)
	add(0, 7000, 0)
	// Another source: its key frame, then what comes before it.
	r.beginAt(700, 4_294_967_000, 50, true, 3000)
	add(700, 4_294_967_000, 50)
	add(699, 4_294_967_000, 49)
	add(702, 704, 51)
	pad()
	add(701, 4_294_967_000, 50)
	want := []string{
		"65534 1000 32766", "65535 4000 32767", "0 4000", "1 4000",
		"3 10000 1", "65535 4000 32767", "2 7000 0",
		"4 13000 2", "dropped", "6 14000 3", "7 14000", "5 13000 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n%q, expected\n%q", got, want)
	}
}

func TestNarrowPictureIDsWrap(t *testing.T) {
	var r rewriter
	r.beginAt(1, 0, 126, false, 0)
	got := []string{r.sent(1, 0, 126, false), r.sent(2, 1, 127, false), r.sent(3, 2, 0, false)}
	r.beginAt(900, 0, 127, false, 0)
	got = append(got, r.sent(900, 0, 127, false), r.sent(901, 5, 0, false))
	if want := []string{"1 0 126", "2 1 127", "3 2 0", "4 3 1", "5 8 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}

// A source that goes on for long enough wraps many times.
func TestNumbersStayContinuousForLong(t *testing.T) {
	var r rewriter
	r.beginAt(40_000, 0, 0, true, 0)
	last := uint16(39_999)
	for i := range 200_000 {
		header := &rtp.Header{SequenceNumber: uint16(40_000 + i)}
		if !r.rewrite(header, nil, frameInfo{}) || header.SequenceNumber != last+1 {
			t.Fatalf("packet %d has number %d after %d", i, header.SequenceNumber, last)
		}
		last = header.SequenceNumber
		if i%3000 == 0 {
			last, _ = r.pad()
		}
	}
}
