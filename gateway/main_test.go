package gateway_test

import (
	"os"
	"testing"

	"conclave/internal/sample"
)

func TestMain(m *testing.M) {
	sample.Tests(24)
	os.Exit(m.Run())
}
