package redact

import (
	"os"
	"testing"

	sampled "conclave/internal/sample"
)

func TestMain(m *testing.M) {
	sampled.Tests(6)
	os.Exit(m.Run())
}
