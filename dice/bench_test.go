package dice

import (
	"path/filepath"
	"testing"
)

func BenchmarkRoll(b *testing.B) {
	dir := b.TempDir()
	l, err := OpenLog(Options{Path: filepath.Join(dir, "log"), SeedPath: filepath.Join(dir, "seed")})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for b.Loop() {
		if _, err := l.Roll(Request{Expr: "4d6k3"}); err != nil {
			b.Fatal(err)
		}
	}
}
