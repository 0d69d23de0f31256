package observe

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	weir "weir/pion"
)

func TestAReadOfTheFileInChargeThatFailsIsRepeatedAndReportedOnce(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, controlFileName)
	failures := 0
	connections := newConnections(t, Options{InCharge: 1, OnError: func(error) { failures++ }})
	connection := connections.Open("one")
	file := &controlFile{path: path, share: 1}
	if err := os.WriteFile(path, []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Skip(err)
	}
	connections.follow(file)
	connections.follow(file)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if failures != 1 || !connection.InCharge() {
		t.Errorf("%d failures", failures)
	}
	if connections.follow(file); connection.InCharge() {
		t.Error("the file is not read again after a failed read")
	}
}

func TestAPipeAsFileInChargeIsAnErrorAndDoesNotBlock(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, controlFileName), 0o600); err != nil {
		t.Skip(err)
	}
	failed := make(chan error, 100)
	go func() {
		if connections, err := New(Options{Other: "gcc", Folder: folder, OnError: func(err error) { failed <- err }}); err == nil {
			connections.Close()
		}
	}()
	select {
	case err := <-failed:
		if !strings.Contains(err.Error(), "not a regular file") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("New blocks")
	}
}

func TestFeedbackOfPacketsThatWereNotSentIsNotLogged(t *testing.T) {
	folder := t.TempDir()
	connection := newConnections(t, Options{Folder: folder, Packets: true}).Open("one")
	for number := range uint16(3 * packetHistory) {
		connection.Sent(20_000+number, 1200, weir.Video)
	}
	const latest = 20_000 + 3*packetHistory - 1
	for _, number := range []uint16{latest + 1, latest + 5000, latest - packetHistory, 19_999} {
		connection.Feedback([]weir.PacketFeedback{{SequenceNumber: number, Fate: weir.Lost}})
	}
	connection.Feedback([]weir.PacketFeedback{
		{SequenceNumber: latest - packetHistory + 1}, {SequenceNumber: latest}, {SequenceNumber: latest + 1},
	})
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	all := lines(t, folder)
	if len(all) != 1+3*packetHistory+1 {
		t.Fatalf("%d lines", len(all))
	}
	if packets := all[len(all)-1]["packets"].([]any); len(packets) != 2 {
		t.Errorf("%v", packets)
	}
}

func TestAViewerCannotReportMoreThanTheTimeOfItsConnection(t *testing.T) {
	folder := t.TempDir()
	connection := newConnections(t, Options{Folder: folder}).Open("one")
	connection.began = connection.began.Add(-15 * time.Second)
	connection.Viewer(1<<62, math.MaxInt64)
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	viewer := lines(t, folder)[1]
	if freezes, frozen := viewer["freezes"].(float64), viewer["frozen_ms"].(float64); freezes < 100 || freezes > 200 ||
		frozen < 15_000 || frozen > 30_000 {
		t.Errorf("%v", viewer)
	}
}

func TestAConnectionWithoutALineHasNoFile(t *testing.T) {
	folder := t.TempDir()
	connections := newConnections(t, Options{Folder: folder})
	for range 10 {
		if err := connections.Open("one").Close(); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
}

func TestAnExceptedConnectionIsFoundWhateverItsIdentifier(t *testing.T) {
	connections := newConnections(t, Options{})
	path := filepath.Join(t.TempDir(), controlFileName)
	if err := os.WriteFile(path, []byte("1\nalice \n bob\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	connections.follow(&controlFile{path: path})
	for _, id := range []string{"alice", "bob", "bob "} {
		if connections.Open(id).InCharge() {
			t.Errorf("the file does not except %q", id)
		}
	}
	for _, id := range []string{strings.Repeat("a", 300), "b\xff", " c", strings.Repeat("a", 255) + "é"} {
		connection := connections.Open(id)
		if err := connections.SetInCharge(1, id); err != nil || connection.InCharge() {
			t.Errorf("%q is not excepted: %v", id, err)
		}
		if Share(id) != connection.share || normalize(connection.ID()) != connection.ID() {
			t.Errorf("%q has another share", id)
		}
	}
}
