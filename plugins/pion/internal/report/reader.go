package report

import (
	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
)

// Reader passes on what `reader` reads, and first gives each RTCP packet of it to `take`.
func Reader(reader interceptor.RTCPReader, take func(rtcp.Packet)) interceptor.RTCPReader {
	return interceptor.RTCPReaderFunc(func(b []byte, a interceptor.Attributes) (int, interceptor.Attributes, error) {
		n, a, err := reader.Read(b, a)
		if err != nil {
			return n, a, err
		}
		if a == nil {
			a = make(interceptor.Attributes)
		}
		// The reader refuses what is no RTCP.
		packets, _ := a.GetRTCPPackets(b[:n])
		for _, packet := range packets {
			take(packet)
		}
		return n, a, nil
	})
}
