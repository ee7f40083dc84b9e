package record_test

import (
	"fmt"
	"os"
	"path/filepath"

	"conclave/record"
)

// A record is written, sealed, and held against the head that somebody noted
// down elsewhere.
func Example() {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run-1"+record.Extension)

	w, err := record.Create(path, record.Header{Run: "run-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = w.AppendLog([]byte(`{"event":"asked"}`))
	_ = w.AppendLog([]byte(`{"event":"answered"}`))
	seal, err := w.Seal("done")
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = w.Close()

	report, err := record.VerifyAgainst(path, seal.Head)
	fmt.Println(report.Logs, "lines, sealed:", report.Sealed, "sound:", report.Sound() == nil, err)

	// Somebody changes a word afterwards.
	data, _ := os.ReadFile(path)
	copy(data[len(data)/2:], "!")
	_ = os.WriteFile(path, data, 0o600)
	report, _ = record.Verify(path)
	fmt.Println("sound after the change:", report.Sound() == nil)
	// Output:
	// 2 lines, sealed: true sound: true <nil>
	// sound after the change: false
}
