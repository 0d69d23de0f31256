package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
)

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

// answering hands a request's offer on. Other pages cannot send this type of content here without being asked first.
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
