package collect

import (
	"os"
	"testing"
)

func soak(t *testing.T) {
	t.Helper()
	if os.Getenv("CONCLAVE_SOAK") == "" {
		t.Skip("needs gigabytes: make soak")
	}
}

// bounded checks the promise about memory: 64 MB and three times the longest
// line.
func bounded(t *testing.T, peak int64, longest int) {
	t.Helper()
	limit := int64(64<<20) + 3*int64(longest)
	t.Logf("peak %d MB, limit %d MB", peak>>20, limit>>20)
	if peak > limit {
		t.Errorf("the follower had %d MB, more than %d", peak>>20, limit>>20)
	}
}

func TestSoakLoss200MB(t *testing.T) {
	soak(t)
	bounded(t, loss(t, 200<<20, 3<<20), 3<<20)
}

func TestSoakLossLongLines(t *testing.T) {
	soak(t)
	bounded(t, loss(t, 20<<20, 95<<20), 95<<20)
}

func TestSoakFourGigabytes(t *testing.T) {
	soak(t)
	bounded(t, loss(t, 4<<30, 3<<20), 3<<20)
}
