package sql_test

import (
	"os"
	"testing"

	"conclave/internal/sample"
)

func TestMain(m *testing.M) {
	sample.Tests(4)
	os.Exit(m.Run())
}
