// A small SFU: one browser publishes, any number watch, and Weir estimates both ways. Upwards it is a receiver and
// steers the browser by REMB (package remb); downwards it sends, and reads each browser's transport-wide feedback
// (package cc). Of the publisher's encodings each watcher gets the one that its path carries.
//
//	make amalgamation                # at the top of the repository: Weir's source; Go compiles it with the program
//	cd examples/sfu
//	go run . -model ../../estimator/models/weir.onnx
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	weir "weir/pion"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8430", "where the page is")
	path := flag.String("model", "", "an ONNX model; needed")
	flag.Parse()
	if flag.NArg() > 0 || *path == "" {
		flag.Usage()
		os.Exit(2)
	}
	model, err := weir.LoadModelFile(*path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sfu:", err)
		os.Exit(3)
	}
	room, err := NewRoom(model)
	if err != nil {
		log.Fatal("sfu: ", err)
	}
	server := &http.Server{Addr: *address, Handler: Handler(room), ReadHeaderTimeout: 5 * time.Second}
	log.Printf("http://%s/", *address)
	log.Fatal("sfu: ", server.ListenAndServe())
}

// longestOffer is far above a browser's.
const longestOffer = 256 << 10

//go:embed page.html
var page []byte

// Handler serves the page, takes offers (as WHIP and WHEP do, without trickling) and tells the estimates.
func Handler(room *Room) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	})
	mux.HandleFunc("POST /publish", answering(room.Publish))
	mux.HandleFunc("POST /watch", answering(room.Watch))
	mux.HandleFunc("GET /estimates", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(room.Estimates())
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		writeMetrics(w, room.Estimates())
	})
	return toNumbersOnly(mux)
}

// toNumbersOnly refuses requests that came by a name other than localhost: a page elsewhere could have its name resolved
// to this machine, and its browser would then take this server for the page's own.
func toNumbersOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host != "localhost" && net.ParseIP(strings.Trim(host, "[]")) == nil {
			http.Error(w, "ask by an address, not by a name", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answering hands a request's offer on. Other pages cannot send this type of content here without a preflight request.
func answering(answer func(offer string) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/sdp" {
			http.Error(w, "an offer is application/sdp", http.StatusUnsupportedMediaType)
			return
		}
		offer, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestOffer))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		sdp, err := answer(string(offer))
		switch {
		case errors.Is(err, errFull):
			http.Error(w, err.Error(), http.StatusConflict)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "application/sdp")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, sdp)
		}
	}
}
