package y4m_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/pion/internal/y4m"
)

// written is a file of 4x2 pictures, each filled with its number.
func written(t *testing.T, header string, frames int) string {
	t.Helper()
	text := header + "\n"
	for number := range frames {
		text += "FRAME\n" + strings.Repeat(string(rune('0'+number)), 4*2*3/2)
	}
	path := filepath.Join(t.TempDir(), "video.y4m")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPicturesBeginAgain(t *testing.T) {
	file, err := y4m.Open(written(t, "YUV4MPEG2 W4 H2 F30:1 Ip C420jpeg", 3))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if file.Width != 4 || file.Height != 2 || file.FramesPerSecond != 30 {
		t.Errorf("%dx%d, %d pictures a second", file.Width, file.Height, file.FramesPerSecond)
	}
	for index, wanted := range []string{"0", "1", "2", "0", "1"} {
		picture, err := file.Frame(int64(index))
		if err != nil || string(picture) != strings.Repeat(wanted, 12) {
			t.Errorf("picture %d: %q, %v", index, picture, err)
		}
	}
}

func TestWhatIsNoVideoIsRefused(t *testing.T) {
	for header, frames := range map[string]int{
		"":                           1,
		"RIFF W4 H2 F30:1":           1,
		"YUV4MPEG2 W4 H2":            1,
		"YUV4MPEG2 W4 H2 F0:1":       1,
		"YUV4MPEG2 W4 H2 F30000:1":   1,
		"YUV4MPEG2 W3 H2 F30:1":      1,
		"YUV4MPEG2 W4 H8192 F30:1":   1,
		"YUV4MPEG2 W-4 H2 F30:1":     1,
		"YUV4MPEG2 W4 H2 F30:1 C422": 1,
		"YUV4MPEG2 W4 H2 F30:1 Ip":   0,
		"YUV4MPEG2 W8 H2 F30:1":      5,
		"YUV4MPEG2 " + strings.Repeat("X", 2000) + " W4 H2 F30:1": 1,
	} {
		if file, err := y4m.Open(written(t, header, frames)); err == nil {
			file.Close()
			t.Errorf("%.40q with %d frames was taken", header, frames)
		}
	}
	if _, err := y4m.Open(filepath.Join(t.TempDir(), "none.y4m")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}
