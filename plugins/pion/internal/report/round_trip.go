// Package report reads RTCP packets and the reception reports in them.
package report

import (
	"time"

	"github.com/pion/rtcp"
)

// RoundTripTime is that of a reception report (RFC 3550, 6.4.1) which arrives at `now`; false where it answers no sender
// report.
func RoundTripTime(report rtcp.ReceptionReport, now time.Time) (time.Duration, bool) {
	if report.LastSenderReport == 0 {
		return 0, false
	}
	// The middle 32 bits of NTP: seconds since 1900 with 16 bits of fraction.
	const unixToNTP = 2_208_988_800
	ntp := uint32((uint64(now.Unix()+unixToNTP) << 16) | uint64(now.Nanosecond())<<16/1e9)
	units := int32(ntp - report.LastSenderReport - report.Delay)
	return time.Duration(units) * time.Second >> 16, units > 0
}
