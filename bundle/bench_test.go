package bundle

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkCreate makes a bundle of a hundred thousand entries.
func BenchmarkCreate(b *testing.B) {
	path := manyEntries(b, filepath.Join(b.TempDir(), "r.record"), 100_000, 20)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Create(b.Context(), Options{Record: path, Dir: b.TempDir()}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify reads it again.
func BenchmarkVerify(b *testing.B) {
	path := manyEntries(b, filepath.Join(b.TempDir(), "r.record"), 100_000, 20)
	made := mustCreate(b, Options{Record: path})
	b.ReportAllocs()
	for b.Loop() {
		if rep, err := VerifyFile(made.Path); err != nil || !rep.Sound() {
			b.Fatal(rep.Problems, err)
		}
	}
}
