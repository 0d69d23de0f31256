// Package observe keeps the record of connections on which Weir runs beside another estimator: which of both is in
// charge, a log of each connection that `weir report` reads, and metrics for Prometheus.
//
//	connections, err := observe.New(observe.Options{
//		Host: "sfu", Other: "gcc", Folder: "/var/log/weir", Registerer: prometheus.DefaultRegisterer,
//	})
//	connection := connections.Open(participantID) // for cc.NewObserver
//	connections.SetInCharge(0.05)                 // Weir is in charge of a twentieth of the connections
//	connections.SetInCharge(0)                    // back to the other estimator, at once
package observe

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
)

const maxIDBytes = 256

// Options are those of Connections.
type Options struct {
	// Host names the program in logs, Other the estimator beside Weir in logs and metrics; such as "pion" and "gcc".
	Host, Other string
	// InCharge is the share of connections that Weir is in charge of, 0 to 1.
	InCharge float64
	// Folder, which exists, gets a log of each connection, from its first observation. While its file in_charge exists, that decides who is in
	// charge: see the README. "": neither.
	Folder string
	// Packets adds packets and feedback to the logs, on which `weir whatif` runs other controllers: about 40 kB a second
	// for 300 packets.
	Packets bool
	// Registerer gets the metrics; nil: none does.
	Registerer prometheus.Registerer
	// EachConnection adds metrics of each connection, with its identifier as a label. Prometheus keeps a series for each
	// identifier that it ever saw.
	EachConnection bool
	// OnError gets errors of logs and of the file in_charge, which change nothing else; nil: none does. It must not call
	// back.
	OnError func(error)
}

// Connections are those of a process. All methods may be called from any goroutine.
type Connections struct {
	options Options
	metrics *metrics
	done    chan struct{}

	mutex sync.Mutex
	over  bool
	// share and except decide who is in charge of connections that are opened from now on.
	share  float64
	except map[string]bool
	open   map[*Connection]struct{}
}

// New returns an error if the share is no number from 0 to 1, if the other estimator has no name of its own, or if the
// metrics are registered already.
func New(options Options) (*Connections, error) {
	if !isShare(options.InCharge) {
		return nil, errShare
	}
	if options.Other == "" || options.Other == "weir" || !utf8.ValidString(options.Other) {
		return nil, errOther
	}
	c := &Connections{
		options: options, done: make(chan struct{}), share: options.InCharge, open: map[*Connection]struct{}{},
	}
	var err error
	if c.metrics, err = newMetrics(options); err != nil {
		return nil, err
	}
	if options.Folder != "" {
		file := &controlFile{path: filepath.Join(options.Folder, controlFileName), share: options.InCharge}
		c.follow(file)
		go c.poll(file)
	}
	return c, nil
}

var (
	errShare = errors.New("observe: the share in charge must be a number from 0 to 1")
	errOther = errors.New("observe: Options.Other must name the other estimator in UTF-8, such as gcc")
)

func isShare(share float64) bool { return share >= 0 && share <= 1 }

// Share of a connection, 0 to 1, uniform over identifiers: Weir is in charge of the connections whose share is below
// the share in charge. It is the same in every program: the first 64 bits of the SHA-256 of the identifier, without
// spaces at its ends and cut after 256 bytes.
func Share(id string) float64 {
	sum := sha256.Sum256([]byte(normalize(id)))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// normalize returns the identifier that Open, Share, SetInCharge and the file in_charge use: valid UTF-8 of at most
// maxIDBytes, without spaces at its ends.
func normalize(id string) string {
	id = strings.TrimSpace(id)
	return strings.TrimSpace(strings.ToValidUTF8(id[:min(len(id), maxIDBytes)], "?"))
}

// Open begins a connection. An empty identifier is replaced by a random one.
func (c *Connections) Open(id string) *Connection {
	if id = normalize(id); id == "" {
		id = rand.Text()
	}
	connection := &Connection{connections: c, id: id, share: Share(id), began: time.Now(), packets: c.options.Packets}
	connection.log = c.newLog(id, connection.began)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.open[connection] = struct{}{}
	connection.inCharge.Store(c.isInCharge(connection))
	c.metrics.connections.WithLabelValues(connection.inChargeName()).Inc()
	return connection
}

// isInCharge needs the mutex.
func (c *Connections) isInCharge(connection *Connection) bool {
	return connection.share < c.share && !c.except[connection.id]
}

// SetInCharge puts Weir in charge of this share of the connections, except those named, and the other estimator in
// charge of the rest, at once.
func (c *Connections) SetInCharge(share float64, except ...string) error {
	if !isShare(share) {
		return errShare
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.share, c.except = share, make(map[string]bool, len(except))
	for _, id := range except {
		c.except[normalize(id)] = true
	}
	for connection := range c.open {
		connection.set(c.isInCharge(connection))
	}
	return nil
}

// Close ends the following of the file in_charge. Open connections go on.
func (c *Connections) Close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.over {
		c.over = true
		close(c.done)
	}
}

func (c *Connections) fail(err error) {
	c.metrics.errors.Inc()
	if c.options.OnError != nil {
		c.options.OnError(err)
	}
}

// optional is nil, null in JSON, if there is no rate.
func optional(bps int64) *int64 {
	if bps <= 0 {
		return nil
	}
	return &bps
}

func seconds(d time.Duration) float64 { return math.Max(d.Seconds(), 0) }
