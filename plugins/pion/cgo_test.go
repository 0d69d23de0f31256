//go:build cgo

package weir_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuildWithoutTheLibraryNamesTheCommandThatWritesIt(t *testing.T) {
	module := t.TempDir()
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module weir/pion\n\ngo 1.24\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cgo.go", "types.go"} {
		source, err := os.ReadFile(filepath.Join("internal/native", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(module, name), source, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", ".")
	build.Dir = module
	build.Env = append(os.Environ(), "CGO_ENABLED=1", "GOWORK=off", "GOFLAGS=")
	output, err := build.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "make amalgamation") {
		t.Errorf("go build: %v, without the command:\n%s", err, output)
	}
}
