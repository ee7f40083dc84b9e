package app

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Init() // rooms are this program again
	os.Exit(m.Run())
}
