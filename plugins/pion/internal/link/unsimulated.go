//go:build !go1.25

package link

import "testing"

// Simulated skips a test for which this Go has no simulated time.
func Simulated(t *testing.T, _ func(t *testing.T)) { t.Skip("simulated time needs Go 1.25") }
