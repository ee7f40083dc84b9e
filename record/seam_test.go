package record_test

import (
	"os"
	"path/filepath"
	"testing"

	"conclave/agent"
	"conclave/record"
	"conclave/transcript"
)

// A Writer is what an emitter and an agent keep things in.
var (
	_ transcript.Store = (*record.Writer)(nil)
	_ agent.BlobStore  = (*record.Writer)(nil)
)

func TestIsRecord(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "v1.record"))
	if err != nil {
		t.Fatal(err)
	}
	if !record.IsRecord(b) || record.IsRecord(b[1:]) || record.IsRecord(b[:4]) || record.IsRecord([]byte(`{"event":"x"}`)) {
		t.Error("IsRecord takes something else for a record, or a record for something else")
	}
}
