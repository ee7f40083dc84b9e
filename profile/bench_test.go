package profile

import "testing"

func BenchmarkLoadBuiltin(b *testing.B) {
	for b.Loop() {
		if p, err := (Library{}).Find("builtin:neutral"); err != nil || len(p.Faults) > 0 {
			b.Fatal(err)
		}
	}
}
