package remb

import (
	"io"

	"github.com/pion/transport/v4/packetio"
)

// Buffer sizes that pion gives a stream.
const (
	rtpBufferBytes  = 1000 * 1000
	rtcpBufferBytes = 100 * 1000
)

// transportOverheadBytes are what the sender counts in REMB beside RTP when it has transport-cc: IPv4, UDP, and the tag
// of SRTP.
const transportOverheadBytes = 20 + 8 + 10

// arrivals is the buffer between pion's SRTP and whoever reads a stream. Packets come in as the network brings them.
type arrivals struct {
	*packetio.Buffer
	receiver *Receiver
}

func (a *arrivals) Write(packet []byte) (int, error) {
	a.receiver.OnPacket(packet)
	return a.Buffer.Write(packet)
}

// BufferFactory is for webrtc.SettingEngine.BufferFactory; Attach sets it.
func (r *Receiver) BufferFactory(kind packetio.BufferPacketType, _ uint32) io.ReadWriteCloser {
	buffer := packetio.NewBuffer()
	if kind != packetio.RTPBufferPacket {
		buffer.SetLimitSize(rtcpBufferBytes)
		return buffer
	}
	buffer.SetLimitSize(rtpBufferBytes)
	return &arrivals{buffer, r}
}

// OnPacket takes an RTP packet that has just arrived and been decrypted; the buffers of BufferFactory call it. What is no
// RTP, and what comes after Close, is ignored.
func (r *Receiver) OnPacket(raw []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	headerBytes, err := r.header.Unmarshal(raw)
	if err != nil || r.over {
		return
	}
	// Packets of a stream may come before its signaling: without a send time, for once.
	of := r.streams[r.header.SSRC]
	p := &r.packet
	p.ArrivalTimeUs = r.nowUs()
	p.SSRC = r.header.SSRC
	p.SequenceNumber = r.header.SequenceNumber
	p.PayloadType = r.header.PayloadType
	p.Kind = of.kind
	p.RTPTimestamp = r.header.Timestamp
	p.RTPClockRateHz = of.clockRateHz
	p.HeaderBytes = uint32(headerBytes)
	if of.transportCC {
		p.HeaderBytes += transportOverheadBytes
	}
	p.PaddingBytes = 0
	if r.header.Padding && len(raw) > headerBytes {
		p.PaddingBytes = min(uint32(raw[len(raw)-1]), uint32(len(raw)-headerBytes))
	}
	p.PayloadBytes = uint32(len(raw)-headerBytes) - p.PaddingBytes
	p.HasAbsSendTime = false
	if of.absSendTimeID != 0 {
		if e := r.header.GetExtension(of.absSendTimeID); len(e) == 3 {
			p.HasAbsSendTime = true
			p.AbsSendTime = uint32(e[0])<<16 | uint32(e[1])<<8 | uint32(e[2])
		}
	}
	// Whatever is wrong with a packet is counted in there.
	_ = r.estimator.OnPacket(p)
}
