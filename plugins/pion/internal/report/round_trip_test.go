package report_test

import (
	"math"
	"testing"
	"time"

	"github.com/pion/rtcp"

	"weir/pion/internal/report"
)

func TestRoundTripTimes(t *testing.T) {
	now := time.Unix(1_700_000_000, 500_000_000)
	ntp := uint32((uint64(now.Unix()+2_208_988_800) << 16) | 1<<15)
	for _, c := range []struct {
		report rtcp.ReceptionReport
		us     int64
		ok     bool
	}{
		{rtcp.ReceptionReport{}, 0, false},
		{rtcp.ReceptionReport{LastSenderReport: ntp - 65_536, Delay: 32_768}, 500_000, true},
		{rtcp.ReceptionReport{LastSenderReport: ntp + 5}, 0, false},
		{rtcp.ReceptionReport{LastSenderReport: ntp, Delay: math.MaxUint32 / 2}, 0, false},
	} {
		if got, ok := report.RoundTripTime(c.report, now); ok != c.ok || ok && got.Microseconds() != c.us {
			t.Errorf("%+v: %v, %v", c.report, got, ok)
		}
	}
}
