// Package y4m reads pictures from a YUV4MPEG2 file, again and again.
package y4m

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

const (
	magic          = "YUV4MPEG2"
	frameLine      = "FRAME\n"
	largestSide    = 4096
	fastest        = 120
	longestHeader  = 1024
	defaultColours = "420"
)

// File has frames of 4:2:0 with 8 bits, without parameters of their own.
type File struct {
	Width, Height, FramesPerSecond int

	file   *os.File
	first  int64
	frames int64
	buffer []byte
}

// Open reads the header; Close closes the file.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	opened := &File{file: file}
	if err := opened.readHeader(); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("cannot use the video %s: %w", path, err)
	}
	return opened, nil
}

// Close closes the file.
func (f *File) Close() { _ = f.file.Close() }

// Frame is picture number `index` since the start, I420 without padding; valid until the next call.
func (f *File) Frame(index int64) ([]byte, error) {
	if _, err := f.file.ReadAt(f.buffer, f.first+index%f.frames*int64(len(f.buffer))); err != nil {
		return nil, err
	}
	if string(f.buffer[:len(frameLine)]) != frameLine {
		return nil, errors.New("frames must follow each other without parameters")
	}
	return f.buffer[len(frameLine):], nil
}

func (f *File) readHeader() error {
	line, err := bufio.NewReader(io.LimitReader(f.file, longestHeader)).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) == 0 || words[0] != magic {
		return errors.New("it is no YUV4MPEG2 file")
	}
	colours := defaultColours
	for _, word := range words[1:] {
		switch value := word[1:]; word[0] {
		case 'W':
			f.Width = side(value)
		case 'H':
			f.Height = side(value)
		case 'F':
			f.FramesPerSecond = rate(value)
		case 'C':
			colours = value
		}
	}
	switch {
	case f.Width == 0 || f.Height == 0:
		return fmt.Errorf("width and height must be even, 2 to %d", largestSide)
	case f.FramesPerSecond == 0:
		return fmt.Errorf("the frame rate must be a whole number, 1 to %d", fastest)
	case colours != "420" && colours != "420jpeg" && colours != "420mpeg2" && colours != "420paldv":
		return fmt.Errorf("sampling must be 4:2:0 with 8 bits, not C%s", colours)
	}
	f.first = int64(len(line))
	f.buffer = make([]byte, len(frameLine)+f.Width*f.Height*3/2)
	status, err := f.file.Stat()
	if err != nil {
		return err
	}
	if f.frames = (status.Size() - f.first) / int64(len(f.buffer)); f.frames < 1 {
		return errors.New("it holds no complete frame")
	}
	_, err = f.Frame(f.frames - 1)
	return err
}

// side is 0 where the text is none.
func side(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 || n > largestSide || n%2 != 0 {
		return 0
	}
	return n
}

// rate of "30:1"; 0 where it is no whole number.
func rate(text string) int {
	numerator, denominator, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(numerator)
	if err != nil || denominator != "1" || n < 1 || n > fastest {
		return 0
	}
	return n
}
