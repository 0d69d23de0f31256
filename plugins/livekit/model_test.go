package livekit

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/livekit/protocol/logger"
)

// child is this test's program, in which the package begins with `path` in WEIR_MODEL.
func child(t *testing.T, path, run string) (stderr string, status int) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^"+run+"$", "-test.v")
	command.Env = append(os.Environ(), "WEIR_MODEL="+path)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return output.String(), command.ProcessState.ExitCode()
}

func TestABadModelStopsTheServer(t *testing.T) {
	noModel := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(noModel, []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/nowhere/weir.onnx", noModel} {
		if output, status := child(t, path, "TestNothing"); status != 2 || !strings.Contains(output, "WEIR_MODEL") {
			t.Errorf("%s: status %d, %q", path, status, output)
		}
	}
	t.Setenv(uplinkVariable, "1")
	if output, status := child(t, "", "TestNothing"); status != 2 || !strings.Contains(output, "WEIR_UPLINK needs a model") {
		t.Errorf("an uplink without a model: status %d, %q", status, output)
	}
}

func TestTheLogSaysOnceThatWeirDecidesAndWithWhichModel(t *testing.T) {
	path := filepath.Join("..", "..", "estimator", "models", "weir.onnx")
	output, status := child(t, path, "TestTwoSubscribers")
	if status != 0 || strings.Count(output, "weir: decides") != 1 || !strings.Contains(output, path) {
		t.Errorf("status %d, %q", status, output)
	}
	if output, status := child(t, "", "TestTwoSubscribers"); status != 0 || strings.Contains(output, "weir: decides") {
		t.Errorf("without a model: status %d, %q", status, output)
	}
}

type testLogger struct {
	logger.Logger
	t *testing.T
}

func (l testLogger) Infow(text string, values ...any) { l.t.Log(append([]any{text}, values...)...) }

// TestTwoSubscribers is for the children.
func TestTwoSubscribers(t *testing.T) {
	for range 2 {
		if estimator, ok := Instead(nil, "", testLogger{nil, t}).(*Estimator); ok {
			_ = estimator.Close()
		} else if os.Getenv("WEIR_MODEL") != "" {
			t.Error("Weir does not decide")
		}
	}
}
