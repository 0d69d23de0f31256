// A small SFU: one browser publishes, any number watch, and Weir estimates both ways. Upwards it is a receiver and
// steers the browser by REMB (package remb); downwards it sends, and reads each browser's transport-wide feedback
// (package cc). There is one encoding, so the slowest watcher decides what the publisher may send.
//
//	make plugins                     # at the top of the repository: libweir, into build/plugins/prefix
//	cd examples/sfu
//	export PKG_CONFIG_PATH=$PWD/../../build/plugins/prefix/lib/pkgconfig
//	export CGO_LDFLAGS=-Wl,-rpath,$PWD/../../build/plugins/prefix/lib
//	go run . -model ../../trainer/models/weir.onnx
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
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
