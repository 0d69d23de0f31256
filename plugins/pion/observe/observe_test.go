package observe

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	weir "weir/pion"
)

func newConnections(t testing.TB, options Options) *Connections {
	t.Helper()
	options.Other = "gcc"
	connections, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connections.Close)
	return connections
}

func observation(weirBps, otherBps int64) weir.Observation {
	return weir.Observation{
		Weir: weir.Statistics{
			TargetRateBps: weirBps, Reason: "guard_overload", ReceiveRateBps: 400_000, LossRatio: 0.01,
			QueueingDelay: 12_500 * time.Microsecond,
		},
		OtherRateBps: otherBps,
	}
}

// lines of the only log in the folder.
func lines(t *testing.T, folder string) []map[string]any {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.observed.jsonl"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	file, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []map[string]any
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var line map[string]any
		if err = json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

func TestAHashOfTheIdentifierChoosesTheShareInCharge(t *testing.T) {
	connections := newConnections(t, Options{InCharge: 0.05})
	inCharge := 0
	for i := range 10_000 {
		connection := connections.Open(fmt.Sprintf("participant-%d", i))
		if connection.InCharge() {
			inCharge++
		}
		if again := connections.Open(connection.ID()); again.InCharge() != connection.InCharge() {
			t.Fatal("a reconnection changes its group")
		}
	}
	if inCharge < 430 || inCharge > 570 {
		t.Errorf("%d of 10,000 for a share of 0.05", inCharge)
	}
}

// tests/plugins/observe/connection_id_test.cc has the same values, and of these that need no change
// tests/webrtc_patch/observing_network_controller_test.cc.
func TestTheShareOfAnIdentifierIsTheSameInEveryProgram(t *testing.T) {
	for id, want := range map[string]float64{
		"": 0.889416, "PA_1": 0.788968, "call 7": 0.576163, " \tPA_1\r\n": 0.788968, "\u00a0caf\u00e9\u2003": 0.519768,
		"b\xffc\xfe\xfe": 0.090991, strings.Repeat("a", 300): 0.011094, strings.Repeat("a", 255) + "\u00e9": 0.756668,
	} {
		if share := Share(id); math.Abs(share-want) > 1e-6 {
			t.Errorf("%q: %f", id, share)
		}
	}
}

func TestASwitchTakesEffectOnAllOrOne(t *testing.T) {
	connections := newConnections(t, Options{})
	one, other := connections.Open("one"), connections.Open("other")
	if one.InCharge() || other.InCharge() {
		t.Error("Weir is in charge")
	}
	if err := connections.SetInCharge(1, "other"); err != nil || !one.InCharge() || other.InCharge() {
		t.Errorf("%v, %v, %v", err, one.InCharge(), other.InCharge())
	}
	if one.SetInCharge(false); one.InCharge() {
		t.Error("one is not switched back")
	}
	if err := connections.SetInCharge(1); err != nil || !one.InCharge() || !other.InCharge() {
		t.Error("all are not switched")
	}
	if connections.SetInCharge(0); one.InCharge() || other.InCharge() {
		t.Error("all are not switched back")
	}
	for _, share := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if connections.SetInCharge(share) == nil {
			t.Errorf("a share of %f is accepted", share)
		}
	}
}

func TestTheFileInChargeDecidesAndWhatIsWrongInItChangesNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, controlFileName)
	var failures []error
	connections := newConnections(t, Options{OnError: func(err error) { failures = append(failures, err) }})
	connection := connections.Open("one")
	file := &controlFile{path: path}
	stamp := time.Unix(1e9, 0)
	follow := func(text string) bool {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stamp = stamp.Add(time.Second)
		if err := os.Chtimes(path, stamp, stamp); err != nil {
			t.Fatal(err)
		}
		connections.follow(file)
		return connection.InCharge()
	}
	if follow("1\n"); !connection.InCharge() {
		t.Error("the file is not read")
	}
	if !follow("") || !follow("2\n") || !follow("half\n") || !follow("NaN") || !follow(strings.Repeat("1", maxControlBytes+1)) {
		t.Error("a file that is wrong changes who is in charge")
	}
	if len(failures) != 4 {
		t.Errorf("%v", failures)
	}
	if follow("1\r\nanother\r\none\r\n") {
		t.Error("a connection that the file names is not switched back")
	}
	if !follow("0.99999999\n") || follow("0\n") {
		t.Error("the share is not followed")
	}
	follow("1\n")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if connections.follow(file); connection.InCharge() {
		t.Error("without the file the share of the options is not in force")
	}
}

func TestTheLogHasBothTargetsAndWhyAndWhatArrived(t *testing.T) {
	folder := t.TempDir()
	connections := newConnections(t, Options{Host: "sfu", Folder: folder})
	connection := connections.Open("a \"name\"\n\xff")
	connection.Record(observation(300_000, 500_000))
	connection.SetInCharge(true)
	connection.Record(observation(300_000, 0))
	connection.began = connection.began.Add(-time.Minute)
	connection.Viewer(2, 1500*time.Millisecond)
	connection.Viewer(1, 0) // of another receiver, or a lie
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	connection.Record(observation(1, 1))
	all := lines(t, folder)
	if len(all) != 4 {
		t.Fatalf("%v", all)
	}
	if head := all[0]; head["type"] != "log" || head["connection"] != "a \"name\"\n?" || head["other"] != "gcc" {
		t.Errorf("%v", head)
	}
	first, second := all[1], all[2]
	if first["in_charge"] != "gcc" || first["other_bps"] != 5e5 || first["weir_bps"] != 3e5 ||
		first["weir_reason"] != "guard_overload" || first["received_bps"] != 4e5 || first["loss_ratio"] != 0.01 ||
		first["queueing_delay_ms"] != 12.5 {
		t.Errorf("%v", first)
	}
	if second["in_charge"] != "weir" || second["other_bps"] != nil {
		t.Errorf("%v", second)
	}
	if viewer := all[3]; viewer["freezes"] != 2.0 || viewer["frozen_ms"] != 1500.0 {
		t.Errorf("%v", viewer)
	}
}

func TestAFolderThatIsGoneStopsNoConnection(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "none")
	failures := 0
	connections := newConnections(t, Options{Folder: folder, OnError: func(error) { failures++ }})
	connection := connections.Open("one")
	connection.Record(observation(1, 1))
	if err := connection.Close(); err != nil || failures != 1 {
		t.Errorf("%v, %d failures", err, failures)
	}
}

func TestMetricsAreOfBothGroups(t *testing.T) {
	registry := prometheus.NewRegistry()
	connections := newConnections(t, Options{Registerer: registry, EachConnection: true})
	observed, inCharge := connections.Open("observed"), connections.Open("in charge")
	inCharge.SetInCharge(true)
	observed.Record(observation(300_000, 600_000))
	inCharge.Record(observation(300_000, 0))
	inCharge.began = inCharge.began.Add(-time.Minute)
	inCharge.Viewer(3, 2*time.Second)
	expected := `
# HELP weir_observed_connections Open connections.
# TYPE weir_observed_connections gauge
weir_observed_connections{in_charge="gcc"} 1
weir_observed_connections{in_charge="weir"} 1
# HELP weir_observed_connection_target_bits_per_second Latest targets of both estimators.
# TYPE weir_observed_connection_target_bits_per_second gauge
weir_observed_connection_target_bits_per_second{connection="in charge",estimator="weir"} 300000
weir_observed_connection_target_bits_per_second{connection="observed",estimator="gcc"} 600000
weir_observed_connection_target_bits_per_second{connection="observed",estimator="weir"} 300000
# HELP weir_observed_freezes_total Freezes of video that receivers reported.
# TYPE weir_observed_freezes_total counter
weir_observed_freezes_total{in_charge="weir"} 3
# HELP weir_observed_target_ratio Weir's target divided by the other's, each second.
# TYPE weir_observed_target_ratio histogram
weir_observed_target_ratio_bucket{in_charge="gcc",le="0.25"} 0
weir_observed_target_ratio_bucket{in_charge="gcc",le="0.5"} 1
weir_observed_target_ratio_bucket{in_charge="gcc",le="0.75"} 1
weir_observed_target_ratio_bucket{in_charge="gcc",le="0.9"} 1
weir_observed_target_ratio_bucket{in_charge="gcc",le="1.1"} 1
weir_observed_target_ratio_bucket{in_charge="gcc",le="1.33"} 1
weir_observed_target_ratio_bucket{in_charge="gcc",le="2"} 1
weir_observed_target_ratio_bucket{in_charge="gcc",le="4"} 1
weir_observed_target_ratio_bucket{in_charge="gcc",le="+Inf"} 1
weir_observed_target_ratio_sum{in_charge="gcc"} 0.5
weir_observed_target_ratio_count{in_charge="gcc"} 1
`
	err := testutil.GatherAndCompare(registry, strings.NewReader(expected), "weir_observed_connections",
		"weir_observed_connection_target_bits_per_second", "weir_observed_freezes_total", "weir_observed_target_ratio")
	if err != nil {
		t.Error(err)
	}
	for _, connection := range []*Connection{observed, inCharge} {
		if err = connection.Close(); err != nil {
			t.Error(err)
		}
	}
	count, err := testutil.GatherAndCount(registry, "weir_observed_connection_target_bits_per_second")
	if err != nil || count != 0 {
		t.Errorf("%d series of connections that have ended, %v", count, err)
	}
	if _, err = New(Options{Other: "gcc", Registerer: registry}); err == nil {
		t.Error("metrics are registered twice")
	}
}

func TestOptionsThatCannotWorkAreErrors(t *testing.T) {
	for _, options := range []Options{{Other: "gcc", InCharge: 2}, {}, {Other: "weir"}, {Other: "g\xff"}} {
		if _, err := New(options); err == nil {
			t.Errorf("%+v is accepted", options)
		}
	}
}

// BenchmarkRecord is what a second of one connection costs, with a log and metrics.
func BenchmarkRecord(b *testing.B) {
	connections := newConnections(b, Options{Folder: b.TempDir(), Registerer: prometheus.NewRegistry()})
	connection := connections.Open("one")
	for b.Loop() {
		connection.Record(observation(300_000, 500_000))
	}
}

func TestPacketsAreLoggedWithNumbersThatDoNotWrap(t *testing.T) {
	folder := t.TempDir()
	connections := newConnections(t, Options{Folder: folder, Packets: true})
	connection := connections.Open("one")
	for i := range 70_000 {
		connection.Sent(uint16(65_500+i), 1200, weir.Video)
	}
	const last = (65_500 + 69_999) % (1 << 16)
	connection.Feedback([]weir.PacketFeedback{
		{SequenceNumber: last - 2, ReceiveTimeUs: -5},
		{SequenceNumber: last - 1, Fate: weir.FateUnknown},
		{SequenceNumber: last, Fate: weir.Lost},
	})
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	all := lines(t, folder)
	first, latest, feedback := all[1], all[70_000], all[70_001]
	if first["type"] != "sent" || latest["id"].(float64)-first["id"].(float64) != 69_999 || first["kind"] != "video" {
		t.Errorf("%v, %v", first, latest)
	}
	packets := feedback["packets"].([]any)
	if len(packets) != 2 || packets[0].([]any)[1] != feedback["time_us"] || packets[1].([]any)[0] != latest["id"] ||
		packets[1].([]any)[1] != nil {
		t.Errorf("%v", feedback)
	}
}

func TestPacketsAreNotLoggedByDefault(t *testing.T) {
	folder := t.TempDir()
	connection := newConnections(t, Options{Folder: folder}).Open("one")
	connection.Sent(1, 1200, weir.Video)
	connection.Feedback([]weir.PacketFeedback{{SequenceNumber: 1}})
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
}
