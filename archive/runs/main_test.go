package runs

import (
	"os"
	"testing"

	"conclave/internal/sample"
)

func TestMain(m *testing.M) {
	sample.Checks(10, 25)
	os.Exit(m.Run())
}
