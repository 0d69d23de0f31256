// Package cliptest writes clips for tests: frames that look like VP8 from outside.
package cliptest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// FramesPerSecond of the clips.
const FramesPerSecond = 30

// Write makes FOLDER/NAME.ivf with frames of frameBytes each, every keyInterval-th a key frame.
func Write(t *testing.T, folder, name string, frameBytes, frames, keyInterval int) {
	t.Helper()
	header := make([]byte, 32)
	copy(header, "DKIF\x00\x00\x20\x00VP80")
	binary.LittleEndian.PutUint16(header[12:], 160)
	binary.LittleEndian.PutUint16(header[14:], 90)
	binary.LittleEndian.PutUint32(header[16:], FramesPerSecond)
	binary.LittleEndian.PutUint32(header[20:], 1)
	binary.LittleEndian.PutUint32(header[24:], uint32(frames))
	content := header
	for number := range frames {
		frame := make([]byte, 12+frameBytes)
		binary.LittleEndian.PutUint32(frame, uint32(frameBytes))
		binary.LittleEndian.PutUint64(frame[4:], uint64(number))
		if number%keyInterval != 0 {
			frame[12] = 1
		}
		content = append(content, frame...)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".ivf"), content, 0o600); err != nil {
		t.Fatal(err)
	}
}
