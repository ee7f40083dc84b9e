// Package program builds the program as people have it: without cgo and without
// the race detector, so that every test that runs it shares what the compiler
// made for make build. It is for tests: the product does not import it.
//
// make test builds it once and names it in CONCLAVE_BUILT: to link it takes eight
// seconds of a processor, and a dozen tests want it in a place of their own.
package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Build makes the program in a directory, and says where it is.
func Build(dir string) (string, error) { return BuildFrom(".", dir) }

// BuildFrom is Build for a test of another module: it says where the program's is.
func BuildFrom(module, dir string) (string, error) {
	path := filepath.Join(dir, "conclave")
	if built := os.Getenv("CONCLAVE_BUILT"); built != "" {
		if err := copyProgram(path, built); err != nil {
			return "", fmt.Errorf("copy the program: %w", err)
		}
		return path, nil
	}
	build := exec.Command("go", "build", "-C", module, "-o", path, "conclave/cmd/conclave")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
}

func copyProgram(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
