// Package program builds the program as people have it: without cgo and without
// the race detector, so that every test that runs it shares what the compiler
// made for make build. It is for tests: the product does not import it.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build makes the program in a directory, and says where it is.
func Build(dir string) (string, error) { return BuildFrom(".", dir) }

// BuildFrom is Build for a test of another module: it says where the program's is.
func BuildFrom(module, dir string) (string, error) {
	path := filepath.Join(dir, "conclave")
	build := exec.Command("go", "build", "-C", module, "-o", path, "conclave/cmd/conclave")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
}
