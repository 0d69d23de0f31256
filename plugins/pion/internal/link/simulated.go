//go:build go1.25

package link

import (
	"testing"
	"testing/synctest"
	"time"
)

// Simulated runs a test in simulated time, in which the load of the machine does not show: the clock goes on where all
// goroutines wait. Peers are on a Link, since real sockets stop it.
func Simulated(t *testing.T, test func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		// This runs last: pion's goroutines end some time after their connection.
		t.Cleanup(func() { time.Sleep(time.Minute) })
		test(t)
	})
}
