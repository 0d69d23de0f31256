// Package shipped finds the model that is installed with Weir.
package shipped

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"

	weir "weir/pion"
)

// Path is what the environment variable WEIR_MODEL names, else what `pkg-config --variable=model weir` does.
func Path() (string, error) {
	if path := os.Getenv("WEIR_MODEL"); path != "" {
		return path, nil
	}
	path, err := exec.Command("pkg-config", "--variable=model", "weir").Output()
	if err != nil {
		return "", errors.New("where is the model? Name it in WEIR_MODEL, or set PKG_CONFIG_PATH to where weir.pc is")
	}
	return strings.TrimSpace(string(path)), nil
}

// Model is loaded once in a process.
var Model = sync.OnceValues(func() (*weir.Model, error) {
	path, err := Path()
	if err != nil {
		return nil, err
	}
	return weir.LoadModelFile(path)
})
