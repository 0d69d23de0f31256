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
	callSeconds       = 30
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

// target is a line of the server's log.
type target struct {
	Message string `json:"msg"`
	Bps     int64
	To      string
	Signal  string
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

// newServer starts one at `host`, with Weir if there is a model; it skips the test where a program is not there.
func newServer(t *testing.T, host, model string) *server {
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
  enable_loopback_candidate: true
  congestion_control: {enabled: true, allow_pause: false, use_send_side_bwe: true}
`, s.port, host, apiKey, apiSecret, host, freePort(t, "udp", host), freePort(t, "tcp", host))
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

// lines of Weir in the server's log.
func (s *server) lines(t *testing.T) []target {
	t.Helper()
	file, err := os.Open(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []target
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var line target
		if json.Unmarshal(scanner.Bytes(), &line) == nil && strings.HasPrefix(line.Message, "weir: ") {
			all = append(all, line)
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

// Chromium publishes three layers and another one watches, over loopback; Weir decides for the subscriber.
func TestACallOverLoopback(t *testing.T) {
	s := newServer(t, "127.0.0.1", modelPath(t))
	s.end(t, "publisher", "127.0.0.1")
	if !s.wait(t, s.published, 60*time.Second) {
		t.Fatal("nothing published within 60 s")
	}
	s.end(t, "subscriber", "127.0.0.1")
	s.wait(t, nil, callSeconds*time.Second)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.stats) == 0 {
		t.Fatal("the subscriber received nothing")
	}
	targets := map[int64]bool{}
	for _, line := range s.lines(t) {
		t.Logf("%+v", line)
		if line.Message == "weir: target" {
			targets[line.Bps] = true
		}
	}
	last := s.stats[len(s.stats)-1]
	t.Logf("%+v; %d targets", last, len(targets))
	if last.Frames < callSeconds || last.Height == 0 || len(targets) < 2 {
		t.Error("the subscriber received too little, or Weir decided nothing")
	}
}
