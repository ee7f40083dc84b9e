package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/engine"
)

// Workspace returns a new temporary workspace in which the engine databases of
// the scopes exist.
func Workspace(t testing.TB, scopes ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, scope := range scopes {
		data, err := emptyDatabase()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, ".conclave", "engine", scope+".db")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// emptyDatabase is what the engine makes of a new scope, made once. It does
// not know which scope it belongs to.
var emptyDatabase = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "enginetest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	e, err := engine.Open(context.Background(), engine.Options{Dir: dir, Scope: "any", Purpose: "prepare tests"})
	if err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, ".conclave", "engine", "any.db"))
})

// copy makes a workspace like the base.
func (k *killer) copy(name string) string {
	dir := filepath.Join(k.t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(k.base)); err != nil {
		k.t.Error(err)
	}
	return dir
}

// tree reads all files but the engine's own.
func (k *killer) tree(dir string) map[string][]byte {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".conclave" {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if k.p.Normalise != nil {
			if data = k.p.Normalise(name, data); data == nil {
				return nil
			}
		}
		files[name] = data
		return nil
	})
	if err != nil {
		k.t.Error(err)
	}
	return files
}

// differences say how a workspace differs from the undisturbed one.
func differences(want, got map[string][]byte) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		data, ok := got[name]
		switch {
		case !ok:
			all = append(all, fmt.Sprintf("%s is missing", name))
		case !bytes.Equal(data, want[name]):
			all = append(all, fmt.Sprintf("%s differs:\n%s\nwant\n%s", name, short(data), short(want[name])))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			all = append(all, fmt.Sprintf("%s should not be there", name))
		}
	}
	return all
}

func short(data []byte) string {
	const most = 2000
	s := strings.ToValidUTF8(string(data), "?")
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
