package livekit

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/livekit/protocol/auth"
)

const (
	apiKey, apiSecret = "weir", "a secret of at least thirty-two characters"
	targetMessage     = "weir: target"
)

//go:embed page/call.html
var page []byte

// stats of a subscriber, from getStats, or what went wrong at an end.
type stats struct {
	Error     string
	Published bool
	Bytes     int64
	Frames    int
	Height    int
	Freezes   int
	Frozen    float64
	at        time.Time
}

// line of Weir in the server's log.
type line struct {
	Message    string `json:"msg"`
	Bps        int64
	To, Signal string
	Capacity   int64
}

// end runs Chromium as a publisher or a subscriber; `prefix` is the command that it runs under.
func (s *server) end(t *testing.T, role, host string, prefix ...string) {
	t.Helper()
	token, err := auth.NewAccessToken(apiKey, apiSecret).SetIdentity(role).
		SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: "weir"}).ToJWT()
	if err != nil {
		t.Fatal(err)
	}
	site := "http://" + net.JoinHostPort(host, s.pagePort)
	query := url.Values{"role": {role}, "token": {token}, "server": {"ws://" + net.JoinHostPort(host, s.port)}}
	command := append(prefix, s.chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--autoplay-policy=no-user-gesture-required", "--disable-background-timer-throttling",
		"--disable-renderer-backgrounding", "--disable-features=WebRtcHideLocalIpsWithMdns",
		"--unsafely-treat-insecure-origin-as-secure="+site, "--user-data-dir="+t.TempDir(), site+"/?"+query.Encode())
	start(t, exec.Command(command[0], command[1:]...), role)
}

// start runs a program until the test ends.
func start(t *testing.T, command *exec.Cmd, name string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		timer := time.AfterFunc(5*time.Second, func() { _ = command.Process.Kill() })
		_ = command.Wait()
		timer.Stop()
		_ = log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s:\n%s", name, text[max(0, len(text)-3000):])
		}
	})
}

// server is livekit-server with the patch, and the site of page/call.html.
type server struct {
	chromium, port, pagePort string
	log                      string

	mutex     sync.Mutex
	stats     []stats
	published chan struct{}
	failed    chan string
}

// newServer starts one at `host`, which is an address of `device`, with Weir if there is a model; it skips the test
// where a program is not there.
func newServer(t *testing.T, host, device, model string) *server {
	t.Helper()
	built := os.Getenv("WEIR_LIVEKIT")
	if built == "" {
		t.Skip("no calls without livekit-server: make test-browser builds it")
	}
	s := &server{published: make(chan struct{}), failed: make(chan string, 100)}
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && s.chromium == "" {
			s.chromium = path
		}
	}
	if s.chromium == "" {
		t.Skip("no calls without Chromium: apt-get install chromium, or name it in CHROMIUM")
	}
	site := http.NewServeMux()
	site.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) })
	site.HandleFunc("/livekit-client.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(built, "node_modules/livekit-client/dist/livekit-client.umd.js"))
	})
	site.HandleFunc("/stats", s.take)
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	_, s.pagePort, _ = net.SplitHostPort(listener.Addr().String())
	go func() { _ = http.Serve(listener, site) }()
	t.Cleanup(func() { _ = listener.Close() })

	s.port = freePort(t, "tcp", host)
	s.log = filepath.Join(t.TempDir(), "server.log")
	config := fmt.Sprintf(`
port: %s
bind_addresses: ["%s"]
keys: {"%s": "%s"}
logging: {level: debug, json: true}
rtc:
  node_ip: %s
  udp_port: %s
  tcp_port: %s
  use_external_ip: false
  enable_loopback_candidate: %t
  interfaces: {includes: [%s]}
  congestion_control: {enabled: true, allow_pause: false, use_send_side_bwe: true}
`, s.port, host, apiKey, apiSecret, host, freePort(t, "udp", host), freePort(t, "tcp", host),
		device == "lo", device)
	command := exec.Command("sh", "-c", `exec "$0" --dev --config-body "$1" >"$2" 2>&1`,
		filepath.Join(built, "livekit-server-weir"), config, s.log)
	command.Env = append(os.Environ(), "WEIR_MODEL="+model)
	start(t, command, "server")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		connection, err := net.Dial("tcp", net.JoinHostPort(host, s.port))
		if err == nil {
			_ = connection.Close()
			return s
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(s.log)
			t.Fatalf("livekit-server does not answer: %v\n%s", err, text)
		}
	}
}

func freePort(t *testing.T, network, host string) string {
	t.Helper()
	var address net.Addr
	if network == "udp" {
		connection, err := net.ListenPacket(network, host+":0")
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		address = connection.LocalAddr()
	} else {
		listener, err := net.Listen(network, host+":0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		address = listener.Addr()
	}
	_, port, _ := net.SplitHostPort(address.String())
	return port
}

// take keeps what a page posts.
func (s *server) take(_ http.ResponseWriter, r *http.Request) {
	posted := stats{at: time.Now()}
	if err := json.NewDecoder(r.Body).Decode(&posted); err != nil {
		return
	}
	switch {
	case posted.Error != "":
		s.failed <- r.URL.Query().Get("role") + ": " + posted.Error
	case posted.Published:
		close(s.published)
	default:
		s.mutex.Lock()
		s.stats = append(s.stats, posted)
		s.mutex.Unlock()
	}
}

// wait lets the call go on for a while, once there is a publisher.
func (s *server) wait(t *testing.T, until <-chan struct{}, most time.Duration) bool {
	t.Helper()
	select {
	case <-until:
		return true
	case failure := <-s.failed:
		t.Fatal(failure)
	case <-time.After(most):
	}
	return false
}

// lines of Weir and sendsidebwe in the server's log; the test's log takes those that are not about targets.
func (s *server) lines(t *testing.T) []line {
	t.Helper()
	file, err := os.Open(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []line
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var read line
		if json.Unmarshal(scanner.Bytes(), &read) == nil &&
			(strings.HasPrefix(read.Message, "weir: ") || strings.HasSuffix(read.Message, "congestion state change")) {
			all = append(all, read)
			if read.Message != targetMessage {
				t.Logf("%+v", read)
			}
		}
	}
	return all
}

func modelPath(t *testing.T) string {
	t.Helper()
	path, err := testModelPath()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// call lets a publisher at the server's host and a subscriber, under the command `prefix`, connect, and returns what
// the subscriber has received.
func (s *server) call(t *testing.T, host string, prefix ...string) {
	t.Helper()
	s.end(t, "publisher", host)
	if !s.wait(t, s.published, 60*time.Second) {
		t.Fatal("nothing published within 60 s")
	}
	s.end(t, "subscriber", host, prefix...)
	for end := time.Now().Add(60 * time.Second); s.last().Frames == 0; s.wait(t, nil, 250*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the subscriber decoded nothing within 60 s")
		}
	}
}

func (s *server) last() stats {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.stats) == 0 {
		return stats{}
	}
	return s.stats[len(s.stats)-1]
}

// Chromium publishes three layers and another one watches, over loopback; Weir decides for the subscriber.
func TestACallOverLoopback(t *testing.T) {
	s := newServer(t, "127.0.0.1", "lo", modelPath(t))
	s.call(t, "127.0.0.1")
	s.wait(t, nil, 20*time.Second)
	targets := map[int64]bool{}
	for _, line := range s.lines(t) {
		if line.Message == targetMessage {
			targets[line.Bps] = true
		}
	}
	t.Logf("%+v", s.last())
	if s.last().Frames < 20 || len(targets) < 2 {
		t.Error("the subscriber received too little, or Weir decided nothing")
	}
}

// The subscriber is behind a link of 300 kbps for 30 s, then of 3 Mbps for 40 s: Weir, and LiveKit's sendsidebwe.
func TestACallOverALink(t *testing.T) {
	const host, name, device, far = "10.211.0.1", "weir-livekit", "weirlk0", "weirlk1"
	if _, err := exec.LookPath("tc"); err != nil || os.Getuid() != 0 || os.Getenv("WEIR_LIVEKIT") == "" {
		t.Skip("no link without root, tc and livekit-server: make test-browser builds it")
	}
	for _, model := range []string{modelPath(t), ""} {
		t.Run("model="+filepath.Base(model), func(t *testing.T) {
			sh(t, "ip netns add "+name)
			t.Cleanup(func() { sh(t, "ip netns del "+name) })
			// The kernel removes the devices of a namespace only after its end.
			t.Cleanup(func() { sh(t, "ip link del "+device) })
			sh(t, "ip link add "+device+" type veth peer name "+far+" netns "+name)
			sh(t, "ip addr add "+host+"/24 dev "+device+" && ip link set "+device+" up")
			sh(t, "ip -n "+name+" addr add 10.211.0.2/24 dev "+far+" && ip -n "+name+" link set "+far+" up")
			sh(t, "ip -n "+name+" link set lo up && ip -n "+name+" route add default via "+host)
			rate := func(kbps int) {
				sh(t, fmt.Sprintf("tc qdisc replace dev %s root tbf rate %dkbit burst 4kb latency 300ms", device, kbps))
			}
			s := newServer(t, host, device, model)
			s.call(t, host, "ip", "netns", "exec", name)
			rate(300)
			s.phase(t, "300 kbps", 30*time.Second)
			rate(3000)
			highest := s.phase(t, "3 Mbps", 40*time.Second)
			if s.lines(t); model != "" && highest != 540 {
				t.Errorf("no picture of the top layer over 3 Mbps, but of %d lines", highest)
			}
		})
	}
}

func sh(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", command, err, out)
	}
}

// phase of a call: when the height of the picture changed, what was received, how long it froze. The machine shapes it,
// too: a publisher without a processor drops its higher layers. Returns the greatest height.
func (s *server) phase(t *testing.T, name string, duration time.Duration) int {
	t.Helper()
	before, begun := s.last(), time.Now()
	s.wait(t, nil, duration)
	last := s.last()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	heights, height, highest := "", 0, 0
	for _, stats := range s.stats {
		if stats.at.After(begun) && stats.Height != height {
			height, highest = stats.Height, max(highest, stats.Height)
			heights += fmt.Sprintf(" %d at %.1f s,", height, stats.at.Sub(begun).Seconds())
		}
	}
	t.Logf("%s: height%s %.0f kbps, %.1f frames/s, %d freezes of %.1f s", name, heights,
		float64(last.Bytes-before.Bytes)*8e-3/duration.Seconds(), float64(last.Frames-before.Frames)/duration.Seconds(),
		last.Freezes-before.Freezes, last.Frozen-before.Frozen)
	return highest
}
