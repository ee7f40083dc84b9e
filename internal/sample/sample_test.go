package sample

import (
	"slices"
	"testing"
)

func TestPick(t *testing.T) {
	for _, seed := range []string{"1", "2", "3", "99"} {
		t.Setenv("CONCLAVE_SAMPLE_SEED", seed)
		for n := range 40 {
			t.Setenv("CONCLAVE_SAMPLE", "")
			list := Pick(t, n, 7, 7)
			if len(list) != min(n, 7) || !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
				t.Fatalf("%v of %d", list, n)
			}
			if len(list) > 0 && (list[0] < 0 || list[len(list)-1] >= n) {
				t.Fatalf("%v of %d", list, n)
			}
			if again := Pick(t, n, 7, 7); !slices.Equal(list, again) {
				t.Fatalf("%v, then %v", list, again)
			}
			t.Setenv("CONCLAVE_SAMPLE", "all")
			if list := Pick(t, n, 0, 0); len(list) != n {
				t.Fatalf("%v is not all of %d", list, n)
			}
		}
	}
}

// In the course of time every case comes up.
func TestEverythingComesUp(t *testing.T) {
	t.Setenv("CONCLAVE_SAMPLE", "")
	met := map[int]bool{}
	for seed := range 200 {
		t.Setenv("CONCLAVE_SAMPLE_SEED", string(rune('0'+seed%10))+string(rune('0'+seed/10%10))+string(rune('1'+seed/100)))
		for _, i := range Pick(t, 30, 4, 4) {
			met[i] = true
		}
	}
	if len(met) != 30 {
		t.Errorf("%d of 30 came up", len(met))
	}
}
