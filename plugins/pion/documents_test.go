package weir_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```")

// flat is code without its indentation.
func flat(code string) string {
	var lines []string
	for line := range strings.Lines(code) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

func TestCodeOfDocumentsIsPartOfCompiledPrograms(t *testing.T) {
	for document, programs := range map[string][]string{
		"README.md":             {"example/*.go", "cc/example_test.go"},
		"../../docs/install.md": {"example_test.go"},
	} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, pattern := range programs {
			matches, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, matches...)
		}
		var compiled []string
		for _, path := range paths {
			code, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			compiled = append(compiled, flat(string(code)))
		}
		all := strings.Join(compiled, "\n")
		blocks := goBlock.FindAllStringSubmatch(string(text), -1)
		if len(blocks) < 2 {
			t.Errorf("%s has %d blocks of Go", document, len(blocks))
		}
		for _, block := range blocks {
			if !strings.Contains(all, flat(block[1])) {
				t.Errorf("%s: this is no part of %s:\n%s", document, programs, block[1])
			}
		}
	}
}

// `go mod vendor` copies LICENSE from the module's folder, and no symbolic link.
func TestLicenseOfTheModuleIsACopyOfTheRepositorys(t *testing.T) {
	info, err := os.Lstat("LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if !info.Mode().IsRegular() {
		t.Error("LICENSE is no regular file")
	}
	copied, copyErr := os.ReadFile("LICENSE")
	license, err := os.ReadFile("../../LICENSE")
	if copyErr != nil || err != nil {
		t.Fatal(copyErr, err)
	}
	if string(copied) != string(license) {
		t.Error("LICENSE differs: cp ../../LICENSE .")
	}
}
