package quest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/policy"
)

func thousandFiles(b *testing.B) string {
	dir := b.TempDir()
	for i := range 1000 {
		path := filepath.Join(dir, "work", fmt.Sprint(i%20), fmt.Sprintf("f%d.go", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(fmt.Sprintf("line %d of a file that says little\n", i), 100)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func BenchmarkOpenWork1000(b *testing.B) {
	dir := thousandFiles(b)
	for b.Loop() {
		w, err := OpenWork(dir, []string{"work"})
		if err != nil || len(w.Files) != 1000 {
			b.Fatal(err)
		}
		w.Close()
	}
}

func BenchmarkPreflight1000(b *testing.B) {
	w, err := OpenWork(thousandFiles(b), []string{"work"})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	s, err := OpenStore(filepath.Join("testdata", "plugin"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	m, err := s.Material()
	if err != nil {
		b.Fatal(err)
	}
	g := Grant(policy.Dragon, m)
	for b.Loop() {
		if err := Preflight([]byte("0123456789abcdef"), g, w); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender5MB(b *testing.B) {
	c := sample(b)
	c.Exchange[1].Text = strings.Repeat("every word as it was said\n", 200000)
	b.SetBytes(int64(len(c.Exchange[1].Text)))
	for b.Loop() {
		if _, err := c.Render(); err != nil {
			b.Fatal(err)
		}
	}
}
