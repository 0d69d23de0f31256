package remb

import (
	"io"

	"github.com/pion/transport/v5/packetio"
)

// Buffer sizes that pion gives a stream.
const (
	rtpBufferBytes  = 1000 * 1000
	rtcpBufferBytes = 100 * 1000
)

// transportOverheadBytes are what the sender counts in REMB beside RTP when it has transport-cc: IPv4, UDP, and the tag
// of SRTP.
const transportOverheadBytes = 20 + 8 + 10

// buffer is packetio.Buffer with the methods that pion's SRTP looks for.
type buffer struct{ *packetio.Buffer }

func (b buffer) Read(packet []byte) (int, error) {
	n, _, err := b.Buffer.Read(packet, nil)
	return n, err
}

func (b buffer) Write(packet []byte) (int, error) { return b.Buffer.Write(packet, nil) }

// ReadWithAttributes is Read with what pion's transport tells about the packet.
func (b buffer) ReadWithAttributes(packet []byte, about packetio.Attributes) (int, packetio.Attributes, error) {
	return b.Buffer.Read(packet, about)
}

// WriteWithAttributes is Write with what pion's transport tells about the packet.
func (b buffer) WriteWithAttributes(packet []byte, about packetio.Attributes) (int, error) {
	return b.Buffer.Write(packet, about)
}

// arrivals is the buffer between pion's SRTP and whoever reads a stream. Packets come in as the network brings them.
type arrivals struct {
	buffer
	receiver *Receiver
}

func (a arrivals) Write(packet []byte) (int, error) { return a.WriteWithAttributes(packet, nil) }

// WriteWithAttributes hands the packet to the estimator first: a full buffer drops it.
func (a arrivals) WriteWithAttributes(packet []byte, about packetio.Attributes) (int, error) {
	a.receiver.OnPacket(packet)
	return a.buffer.WriteWithAttributes(packet, about)
}

// hostArrivals is a buffer of the host with packets as the network brings them.
type hostArrivals struct {
	io.ReadWriteCloser
	receiver *Receiver
}

func (a hostArrivals) Write(packet []byte) (int, error) {
	a.receiver.OnPacket(packet)
	return a.ReadWriteCloser.Write(packet)
}

// bufferFactory makes a webrtc.SettingEngine.BufferFactory that reports packets as they arrive. Buffers are those of
// `host`, or pion's own if it is nil. Kind is packetio.BufferPacketType, which is another type in each major version of
// pion's transport.
func bufferFactory[Kind ~int](
	r *Receiver, host func(Kind, uint32) io.ReadWriteCloser,
) func(Kind, uint32) io.ReadWriteCloser {
	return func(kind Kind, ssrc uint32) io.ReadWriteCloser {
		isRTP := kind == Kind(packetio.RTPBufferPacket)
		if host != nil {
			made := host(kind, ssrc)
			if isRTP && made != nil {
				return hostArrivals{made, r}
			}
			return made
		}
		made := buffer{packetio.NewBuffer()}
		if !isRTP {
			made.SetLimitSize(rtcpBufferBytes)
			return made
		}
		made.SetLimitSize(rtpBufferBytes)
		return arrivals{made, r}
	}
}

// OnPacket takes an RTP packet that has just arrived and been decrypted; the buffers of Attach call it. Data that is not
// RTP, and packets after Close, are ignored.
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
	if of.transportCCID != 0 {
		p.HeaderBytes += transportOverheadBytes
	}
	r.feedback.record(&r.header, p.ArrivalTimeUs)
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
