package clip_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"weir/pion/internal/clip"
	"weir/pion/internal/clip/cliptest"
)

// open writes two encodings of four frames each, with key frames at 0 and 2, and opens them.
func open(t *testing.T) *clip.Clip {
	t.Helper()
	folder := t.TempDir()
	cliptest.Write(t, folder, "low", 100, 4, 2)
	cliptest.Write(t, folder, "high", 1000, 4, 2)
	opened, err := clip.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

const lowBps, highBps = 8 * 100 * cliptest.FramesPerSecond, 8 * 1000 * cliptest.FramesPerSecond

func TestTheEncodingChangesAtKeyFrames(t *testing.T) {
	video := open(t)
	steps := []struct {
		rateBps, wantedBytes int
	}{
		{lowBps, 100}, {highBps, 100}, {highBps, 1000}, {lowBps, 1000}, {highBps - 1, 100}, {0, 100}, {0, 100}, {highBps, 100},
		{2 * highBps, 1000},
	}
	for index, step := range steps {
		if frame := video.Frame(int64(index), step.rateBps, false); len(frame) != step.wantedBytes {
			t.Errorf("frame %d: %d bytes, not %d", index, len(frame), step.wantedBytes)
		}
	}
}

func TestFramesThatCannotBeDecodedAreWithheld(t *testing.T) {
	steps := []struct {
		index    int64
		keyFrame bool
		wanted   bool
	}{
		{0, false, true}, {1, true, false}, {2, true, true}, {3, false, true}, {5, false, false}, {6, false, true}, {7, false, true},
	}
	video := open(t)
	for _, step := range steps {
		frame := video.Frame(step.index, lowBps, step.keyFrame)
		if got := frame != nil; got != step.wanted {
			t.Errorf("frame %d, key frame wanted %t: sent %t", step.index, step.keyFrame, got)
		}
		if step.keyFrame && frame != nil && !clip.IsKeyFrame(frame) {
			t.Errorf("frame %d is no key frame", step.index)
		}
	}
}

func TestFilesThatAreNoClipAreRefused(t *testing.T) {
	cases := map[string]func(folder string){
		"no file":                func(string) {},
		"another length":         func(folder string) { cliptest.Write(t, folder, "b", 10, 5, 2) },
		"key frames elsewhere":   func(folder string) { cliptest.Write(t, folder, "b", 10, 4, 3) },
		"no IVF":                 func(folder string) { write(t, folder, []byte("RIFF")) },
		"a header and no frames": func(folder string) { cliptest.Write(t, folder, "b", 10, 0, 2) },
	}
	for name, make := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if name != "no file" {
				cliptest.Write(t, folder, "a", 100, 4, 2)
			}
			make(folder)
			_, err := clip.Open(folder)
			if missing := errors.Is(err, fs.ErrNotExist); err == nil || missing != (name == "no file") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func write(t *testing.T, folder string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, "b.ivf"), content, 0o600); err != nil {
		t.Fatal(err)
	}
}
