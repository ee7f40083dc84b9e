package engine

import (
	"os"
	"testing"

	"conclave/internal/sample"
)

func TestMain(m *testing.M) {
	sample.Tests(10)
	os.Exit(m.Run())
}
