package quest

import (
	"os"
	"testing"

	drawn "conclave/internal/sample"
)

func TestMain(m *testing.M) {
	drawn.Checks(20, 40)
	os.Exit(m.Run())
}
