package main

import (
	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
)

// reportWatch is an interceptor that tells of each sender report as it leaves; registered before the one that makes
// them.
type reportWatch struct {
	interceptor.NoOp
	tell func(report *rtcp.SenderReport)
}

// NewInterceptor makes it its own factory, for the one connection.
func (w *reportWatch) NewInterceptor(string) (interceptor.Interceptor, error) { return w, nil }

// BindRTCPWriter is interceptor.Interceptor's.
func (w *reportWatch) BindRTCPWriter(writer interceptor.RTCPWriter) interceptor.RTCPWriter {
	return interceptor.RTCPWriterFunc(func(packets []rtcp.Packet, attributes interceptor.Attributes) (int, error) {
		for _, packet := range packets {
			if report, ok := packet.(*rtcp.SenderReport); ok {
				w.tell(report)
			}
		}
		return writer.Write(packets, attributes)
	})
}
