// Package clip reads a video that was encoded beforehand at several bitrates (encode_clip.sh), and plays it at the rate
// of the moment. It stands in for a camera with a real-time encoder.
package clip

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/pion/webrtc/v4/pkg/media/ivfreader"
)

// ClockHz is the RTP clock rate of video.
const ClockHz = 90_000

const (
	maxFrames = 3_000
	maxBytes  = 256 << 20
)

// Clip is a video in several encodings whose key frames are at the same places. One goroutine at a time uses it.
type Clip struct {
	Width, Height, FramesPerSecond int

	// By ascending bitrate.
	encodings []encoding
	current   int
	// Index of the next frame that the receiver can decode; a later one needs a key frame.
	next int64
}

type encoding struct {
	bitrateBps int
	frames     [][]byte
}

// Open reads the files FOLDER/*.ivf, which hold VP8 with the same size, frame rate and number of frames.
func Open(folder string) (*Clip, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.ivf"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no encoded video: encode it with plugins/pion/encode_clip.sh: %w", folder, os.ErrNotExist)
	}
	c := &Clip{}
	for _, name := range names {
		if err := c.add(name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	slices.SortFunc(c.encodings, func(a, b encoding) int { return a.bitrateBps - b.bitrateBps })
	return c, c.checkKeyFrames()
}

func (c *Clip) add(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, header, err := ivfreader.NewWith(io.LimitReader(file, maxBytes))
	if err != nil {
		return err
	}
	width, height := int(header.Width), int(header.Height)
	if header.FourCC != "VP80" || width == 0 || height == 0 || header.TimebaseNumerator == 0 {
		return errors.New("no VP8 video")
	}
	framesPerSecond := int(header.TimebaseDenominator / header.TimebaseNumerator)
	if framesPerSecond < 1 || framesPerSecond > 240 {
		return fmt.Errorf("%d frames a second; 1 to 240 are possible", framesPerSecond)
	}
	var frames [][]byte
	size := 0
	for {
		frame, _, err := reader.ParseNextFrame()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if frames, size = append(frames, frame), size+len(frame); len(frames) > maxFrames {
			return fmt.Errorf("more than %d frames", maxFrames)
		}
	}
	if len(frames) == 0 || !IsKeyFrame(frames[0]) {
		return errors.New("does not begin with a key frame")
	}
	if len(c.encodings) == 0 {
		c.Width, c.Height, c.FramesPerSecond = width, height, framesPerSecond
	} else if width != c.Width || height != c.Height || framesPerSecond != c.FramesPerSecond {
		return errors.New("has another size or frame rate than the other files")
	}
	c.encodings = append(c.encodings, encoding{8 * size * framesPerSecond / len(frames), frames})
	return nil
}

func (c *Clip) checkKeyFrames() error {
	first := c.encodings[0].frames
	for _, other := range c.encodings[1:] {
		same := slices.EqualFunc(first, other.frames, func(a, b []byte) bool { return IsKeyFrame(a) == IsKeyFrame(b) })
		if !same {
			return errors.New("the encodings have their key frames at different places")
		}
	}
	return nil
}

// Frame returns the frame of that index, counted from 0 and in a loop; nil where the receiver could not decode it, since
// frames were skipped or a key frame is due. The encoding changes at key frames only: it is then the largest that fits
// into rateBps, else the smallest.
func (c *Clip) Frame(index int64, rateBps int, keyFrame bool) []byte {
	position := int(index % int64(len(c.encodings[0].frames)))
	if IsKeyFrame(c.encodings[0].frames[position]) {
		c.current = 0
		for i, e := range c.encodings {
			if e.bitrateBps <= rateBps {
				c.current = i
			}
		}
	} else if index != c.next || keyFrame {
		return nil
	}
	c.next = index + 1
	return c.encodings[c.current].frames[position]
}

// IsKeyFrame reports whether a VP8 frame is one (RFC 6386, section 9.1).
func IsKeyFrame(frame []byte) bool { return len(frame) > 0 && frame[0]&1 == 0 }
