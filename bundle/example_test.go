package bundle_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/bundle"
	"conclave/record"
	"conclave/transcript"
)

// A run is handed to a stranger, without its secrets; the stranger checks it.
func Example() {
	dir, err := os.MkdirTemp("", "bundle")
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
	emitter, err := transcript.NewEmitter(transcript.Options{
		PromptName: "quest.consult.cat", Adapter: transcript.AdapterOffline, Store: w,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = emitter.Emit(transcript.Item{
		Type: transcript.UserMessage, Detail: []byte(`{"text":"My token is hush-hush-4711, is that bad?"}`),
	})
	if err == nil {
		_, err = w.Seal("done")
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = w.Close()

	made, err := bundle.Create(context.Background(), bundle.Options{
		Record: path, Dir: dir,
		Environ: []string{"API_TOKEN=hush-hush-4711"}, // its value is removed wherever it stands
		Now:     func() time.Time { return time.Date(2026, 2, 18, 14, 32, 0, 0, time.UTC) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	report, err := bundle.VerifyFile(made.Path)
	fmt.Println("sound:", report.Sound(), report.Entries, "entry", err)
	r, err := bundle.Open(made.Path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for line := range r.Lines(bundle.TranscriptFile, &err) {
		fmt.Println("the token is in it:", strings.Contains(string(line), "hush-hush"), err)
	}
	// Output:
	// sound: true 1 entry <nil>
	// the token is in it: false <nil>
}
