package main

import (
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	weir "weir/pion"
)

// A track without a connection takes packets, too.
func newTestForwarder(t *testing.T) *forwarder {
	t.Helper()
	f, err := newForwarder(vp8, "video")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func testEncoding(rid string, requests *int) *encoding {
	return &encoding{kind: weir.Video, rid: rid, clockRate: 90_000, requestKeyFrame: func(uint32) { *requests++ }}
}

// frame forwards one of a single packet.
func (f *forwarder) frame(of *encoding, timestamp uint32, key, ends bool, now time.Time) {
	payload := vp8Payload(1, true, key, 0)
	packet := &rtp.Packet{Header: rtp.Header{Timestamp: timestamp, Marker: ends}, Payload: payload}
	packet.SequenceNumber = uint16(timestamp / 3000)
	f.forward(of, packet, readVP8(payload), now)
}

func TestALayerBeginsWithAKeyFrame(t *testing.T) {
	f, requests, now := newTestForwarder(t), 0, time.Now()
	low, high := testEncoding("q", &requests), testEncoding("f", &requests)
	for range 5 {
		f.want(low)
	}
	if requests != 1 {
		t.Errorf("%d requests of a key frame at once", requests)
	}
	f.frame(low, 3000, false, true, now)
	f.frame(high, 3000, true, true, now)
	if f.forwarded() != nil {
		t.Error("forwarded before its key frame")
	}
	f.frame(low, 6000, true, true, now)
	f.want(high)
	f.frame(high, 6000, false, true, now)
	f.frame(low, 9000, false, true, now)
	if f.forwarded() != low || f.rewriter.timestamp != 9000 || requests != 2 {
		t.Errorf("%v, %+v, %d requests", f.forwarded(), f.rewriter, requests)
	}
	f.frame(high, 9000, true, true, now.Add(20*time.Millisecond))
	f.frame(low, 12_000, true, true, now)
	if f.forwarded() != high || f.rewriter.timestamp != 9000+1800 || f.rewriter.number != 4 {
		t.Errorf("%v, %+v", f.forwarded(), f.rewriter)
	}
	only := testEncoding("", &requests)
	f.want(only)
	f.frame(only, 3000, false, true, now)
	if f.forwarded() != only {
		t.Error("one encoding waits for a key frame")
	}
}

func TestTimestampsFollowSenderReports(t *testing.T) {
	requests, now := 0, time.Now()
	// By reports the frame is 30 ms after the former, or a minute, or of an earlier time; it arrives after 50 ms.
	for _, c := range []struct {
		offsetMs int64
		elapsed  uint32
	}{{30, 2700}, {60_000, 4500}, {-30, 1}} {
		f, low, high := newTestForwarder(t), testEncoding("q", &requests), testEncoding("f", &requests)
		const second = 1 << 32
		low.onReport(&rtcp.SenderReport{NTPTime: 1000 * second, RTPTime: 6000})
		high.onReport(&rtcp.SenderReport{NTPTime: uint64(1_000_000+c.offsetMs) * second / 1000, RTPTime: 4_000_002_000})
		f.want(low)
		f.frame(low, 6000, true, true, now)
		f.want(high)
		f.frame(high, 4_000_002_000, true, true, now.Add(50*time.Millisecond))
		if got := f.rewriter.timestamp - 6000; got != c.elapsed {
			t.Errorf("%d ms by reports: %d ticks, expected %d", c.offsetMs, got, c.elapsed)
		}
	}
}

func TestPaddingDoesNotLieWithinAFrame(t *testing.T) {
	f, requests, now := newTestForwarder(t), 0, time.Now()
	if f.pad(255) {
		t.Error("padding without media")
	}
	low := testEncoding("q", &requests)
	f.want(low)
	f.frame(low, 3000, true, false, now)
	if f.pad(255) {
		t.Error("padding within a frame")
	}
	f.frame(low, 6000, false, true, now)
	if !f.pad(255) || !f.pad(1) || f.rewriter.number != 4 {
		t.Errorf("%+v", f.rewriter)
	}
}

func TestPaddingHasTheSizeOfTheCluster(t *testing.T) {
	for _, c := range []struct {
		rateBps, durationUs int64
		size                byte
	}{{5_000_000, 30_000, 255}, {550_000, 15_000, 1031/5 - 58}, {100_000, 15_000, 1}, {0, 0, 1}} {
		cluster := weir.ProbeCluster{ID: 1, TargetDataRateBps: c.rateBps, TargetDurationUs: c.durationUs, TargetProbeCount: 5}
		if got := paddingOf(cluster); got != c.size {
			t.Errorf("%+v: %d bytes", cluster, got)
		}
	}
}

func TestRatesOfEncodingsAreMeasured(t *testing.T) {
	e, now := testEncoding("q", new(int)), time.Now()
	packet := &rtp.Packet{Payload: make([]byte, 1000-rtpBytes-wireBytes)}
	for range 200 {
		now = now.Add(10 * time.Millisecond)
		packet.SequenceNumber++
		e.observe(packet, frameInfo{width: 640, height: 360}, now)
	}
	layer, comes := e.layer(now)
	if !comes || layer.RateBps < 790_000 || layer.RateBps > 810_000 || layer.Height != 360 {
		t.Errorf("%+v, %v", layer, comes)
	}
	if _, comes := e.layer(now.Add(2 * idleAfter)); comes {
		t.Error("an encoding without packets")
	}
	packet.SequenceNumber++
	e.observe(packet, frameInfo{}, now.Add(3*idleAfter))
	if _, comes := e.layer(now.Add(3 * idleAfter)); comes {
		t.Error("a rate of one packet")
	}
}
