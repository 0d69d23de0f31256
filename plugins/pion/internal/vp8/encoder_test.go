package vp8_test

import (
	"math/rand/v2"
	"testing"

	"weir/pion/internal/vp8"
)

const (
	width, height   = 320, 180
	framesPerSecond = 30
)

// noisyPicture moves a pattern by a step a picture, with some noise: there is always something to encode.
func noisyPicture(number int, noise *rand.Rand) []byte {
	picture := make([]byte, width*height*3/2)
	for i := range picture {
		x, y := i%width, i/width
		picture[i] = byte(((x+4*number)/8*(y/8)*37)%200 + noise.IntN(8))
	}
	return picture
}

// encodeSeconds returns the rate of the frames.
func encodeSeconds(t *testing.T, encoder *vp8.Encoder, first, seconds int, noise *rand.Rand) float64 {
	t.Helper()
	size := 0
	for number := first; number < first+seconds*framesPerSecond; number++ {
		frame, err := encoder.Encode(noisyPicture(number, noise), int64(number)*vp8.ClockHz/framesPerSecond, false)
		if err != nil {
			t.Fatal(err)
		}
		size += len(frame)
	}
	return float64(8*size) / float64(seconds)
}

func newEncoder(t *testing.T, rateBps int) *vp8.Encoder {
	t.Helper()
	encoder, err := vp8.NewEncoder(width, height, framesPerSecond, rateBps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(encoder.Close)
	return encoder
}

func TestTheRateIsFollowedUpAndDown(t *testing.T) {
	encoder, noise := newEncoder(t, 300_000), rand.New(rand.NewPCG(1, 2))
	const seconds = 3
	for phase, rateBps := range []int{300_000, 900_000, 150_000} {
		if err := encoder.SetRate(rateBps); err != nil {
			t.Fatal(err)
		}
		first := 2 * phase * seconds * framesPerSecond
		encodeSeconds(t, encoder, first, seconds, noise)
		got := encodeSeconds(t, encoder, first+seconds*framesPerSecond, seconds, noise)
		if got < 0.7*float64(rateBps) || got > 1.2*float64(rateBps) {
			t.Errorf("%.0f bit/s at a rate of %d", got, rateBps)
		}
	}
}

func TestKeyFramesComeFirstAndWhereTheyAreAskedFor(t *testing.T) {
	encoder, noise := newEncoder(t, 500_000), rand.New(rand.NewPCG(3, 4))
	const asked = 20
	for number := range 30 {
		frame, err := encoder.Encode(
			noisyPicture(number, noise), int64(number)*vp8.ClockHz/framesPerSecond, number == asked)
		if err != nil {
			t.Fatal(err)
		}
		if wanted := number == 0 || number == asked; len(frame) > 0 && vp8.IsKeyFrame(frame) != wanted {
			t.Errorf("picture %d: a key frame: %v", number, !wanted)
		}
	}
}

func TestWhatCannotBeEncodedIsRefused(t *testing.T) {
	if _, err := vp8.NewEncoder(641, 360, framesPerSecond, 300_000); err == nil {
		t.Error("an odd width was taken")
	}
	if _, err := newEncoder(t, 300_000).Encode(make([]byte, 100), 0, false); err == nil {
		t.Error("a picture of another size was taken")
	}
}
