package dice

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/newer"
)

func TestCheckVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dice-log.jsonl")
	for text, refused := range map[string]bool{
		"":                               false,
		`{"event":"epoch","v":1}` + "\n": false,
		"no JSON, \"v\":3\n":             false,
		"{}\n" + `{"event":"epoch","v":3}` + "\n": true,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := CheckVersion(path)
		if e := (*newer.Error)(nil); errors.As(err, &e) != refused || !refused && err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := CheckVersion(path + "x"); err != nil {
		t.Errorf("one that is not there: %v", err)
	}
}
