package bundle

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// originalRules are what the original system's own reader and query program
// ask of a bundle, written down from the format and from what they do.
func originalRules(tb testing.TB, path string) {
	tb.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		tb.Fatalf("%s: not a zip: %v", path, err)
	}
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "debug_bundle/") {
			tb.Errorf("%s: %s is outside of the one root", path, f.Name)
		}
		if f.Method != zip.Deflate && f.Method != zip.Store {
			tb.Errorf("%s: %s has method %d", path, f.Name, f.Method)
		}
	}
	_ = z.Close()
	files := unzip(tb, path)
	m := originalManifest(tb, files["manifest.json"])
	for name, want := range m.Integrity.Checksums {
		sum := sha256.Sum256(files[name])
		if text, ok := files[name]; !ok || hex.EncodeToString(sum[:]) != want {
			tb.Errorf("%s: %s: %d bytes have another checksum than the manifest says", path, name, len(text))
		}
	}
	for _, name := range m.Files {
		if _, ok := files[name]; !ok {
			tb.Errorf("%s: %s is listed and not there", path, name)
		}
	}
	for name, text := range files {
		originalFile(tb, path, name, text)
	}
}

type originalForm struct {
	FormatVersion string `json:"format_version"`
	BundleID      string `json:"bundle_id"`
	CreatedAt     string `json:"created_at"`
	Request       struct {
		RequestID string  `json:"request_id"`
		SessionID *string `json:"session_id"`
		Status    string  `json:"status"`
		StartedAt string  `json:"started_at"`
		EndedAt   string  `json:"ended_at"`
	} `json:"request"`
	Capture struct {
		Mode    string          `json:"mode"`
		Trigger string          `json:"trigger"`
		Limits  map[string]bool `json:"limits_applied"` // nothing but booleans
	} `json:"capture"`
	Prompt    struct{ NS, Key, Adapter string } `json:"prompt"`
	Files     []string                          `json:"files"`
	Integrity struct {
		Algorithm string            `json:"algorithm"`
		Checksums map[string]string `json:"checksums"`
	} `json:"integrity"`
	Build struct{ Version, Commit string } `json:"build"`
}

func originalManifest(tb testing.TB, text []byte) originalForm {
	tb.Helper()
	var m originalForm
	if !utf8.Valid(text) {
		tb.Fatal("the manifest is no UTF-8")
	}
	if err := json.Unmarshal(text, &m); err != nil {
		tb.Fatalf("the manifest: %v", err)
	}
	if m.FormatVersion != "1.0.0" || m.BundleID == "" || m.Integrity.Algorithm != "sha256" || m.Request.Status != "success" && m.Request.Status != "error" {
		tb.Errorf("the manifest says %+v", m)
	}
	for _, at := range []string{m.CreatedAt, m.Request.StartedAt, m.Request.EndedAt} {
		if _, err := time.Parse(time.RFC3339, at); err != nil || strings.HasSuffix(at, "Z") {
			tb.Errorf("time %q is not one with its offset written", at)
		}
	}
	if len(m.Files) == 0 || len(m.Files) != len(m.Integrity.Checksums) {
		tb.Errorf("%d files and %d checksums", len(m.Files), len(m.Integrity.Checksums))
	}
	return m
}

// originalFile: JSON files are JSON, the lines of logs have their six members,
// state items say their type, texts are UTF-8.
func originalFile(tb testing.TB, path, name string, text []byte) {
	tb.Helper()
	if strings.HasPrefix(name, "filesystem/") || strings.HasPrefix(name, "record/") {
		return
	}
	if !utf8.Valid(text) {
		tb.Errorf("%s: %s is no UTF-8", path, name)
	}
	switch {
	case strings.HasSuffix(name, ".json"):
		if !json.Valid(text) {
			tb.Errorf("%s: %s is no JSON: %.200s", path, name, text)
		}
	case strings.HasSuffix(name, ".jsonl"):
		for line := range bytes.Lines(text) {
			var v map[string]json.RawMessage
			if err := json.Unmarshal(line, &v); err != nil {
				tb.Errorf("%s: %s: %v in %.200s", path, name, err, line)
				return
			}
			members := []string{"timestamp", "level", "logger", "event", "message", "context"}
			switch name {
			case "session/before.jsonl", "session/after.jsonl":
				members = []string{"__type__"}
			case "receipts.jsonl":
				members = nil
			}
			for _, k := range members {
				if v[k] == nil {
					tb.Errorf("%s: %s: no %s in %.200s", path, name, k, line)
				}
			}
		}
	}
}

func TestTheOriginalsBundles(t *testing.T) {
	entries := map[string]int64{"wink-claude-error.zip": 32, "wink-claude-subagents.zip": 0, "wink-codex-commands.zip": 11}
	for _, path := range fixtures(t) {
		checkBundle(t, path)
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rep := r.verify()
		if want := entries[path[strings.LastIndex(path, "/")+1:]]; rep.Entries == 0 || want > 0 && rep.Entries != want {
			t.Errorf("%s has %d entries, want %d", path, rep.Entries, want)
		}
		if (r.Manifest().Request.Status == "error") != r.Has(errorFile) {
			t.Errorf("%s: status %s", path, r.Manifest().Request.Status)
		}
		if len(rep.Notes) != 2 {
			t.Errorf("%s: notes %v, want two about files that it lacks", path, rep.Notes)
		}
		root, err := r.Extract(t.TempDir() + "/x")
		if err != nil || len(dirNames(t, root)) < 6 {
			t.Errorf("extract %s: %v", path, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// originalCall is what the original's query program finds in an entry of a tool.
type originalCall struct{ id, name, source string }

// originalTool finds it as that program does, written down from what it does:
// first in the message of sdk_entry, or of the detail where there is none; then
// at its top; then in a notification's item.
func originalTool(tb testing.TB, line []byte) (kind string, c originalCall) {
	tb.Helper()
	type object = map[string]any
	var record struct {
		Context struct {
			EntryType string `json:"entry_type"`
			Source    string
			Detail    object
		}
	}
	if err := json.Unmarshal(line, &record); err != nil {
		tb.Fatal(err)
	}
	kind, c.source = record.Context.EntryType, record.Context.Source
	parsed := record.Context.Detail
	if entry, ok := parsed["sdk_entry"].(object); ok {
		parsed = entry
	}
	text := func(o object, names ...string) string {
		for _, n := range names {
			if s, _ := o[n].(string); s != "" {
				return s
			}
		}
		return ""
	}
	message, _ := parsed["message"].(object)
	blocks, _ := message["content"].([]any)
	for _, b := range blocks {
		if b, _ := b.(object); b["type"] == "tool_use" {
			c.id, c.name = text(b, "id", "tool_use_id", "tool_call_id"), text(b, "name")
			break
		}
	}
	if kind == "tool_result" {
		c.id, c.name = cmp.Or(c.id, text(parsed, "tool_use_id", "tool_call_id")), cmp.Or(c.name, text(parsed, "tool_name"))
	}
	if c.id == "" && (kind == "tool_use" || kind == "tool_result") {
		notification, _ := parsed["notification"].(object)
		if item, ok := notification["item"].(object); ok {
			c.id, c.name = text(item, "id"), cmp.Or(c.name, text(item, "command", "type"))
		} else {
			c.id, c.name = text(notification, "callId"), cmp.Or(c.name, text(notification, "tool"))
		}
	}
	if kind == "tool_use" && c.name == "" && parsed["type"] == "tool_use" {
		c.id, c.name = text(parsed, "id", "tool_use_id", "tool_call_id"), text(parsed, "name")
	}
	c.id, c.name = cmp.Or(c.id, text(parsed, "tool_call_id")), cmp.Or(c.name, text(parsed, "tool_name"))
	return kind, c
}

// originalPairs: of the calls in a transcript, how many that program pairs with
// their results.
func originalPairs(tb testing.TB, transcript []byte) (calls, paired int) {
	tb.Helper()
	results := map[originalCall]bool{}
	var asked []originalCall
	for line := range bytes.Lines(transcript) {
		switch kind, c := originalTool(tb, line); kind {
		case "tool_use":
			asked = append(asked, c)
		case "tool_result":
			results[originalCall{id: c.id, source: c.source}] = true
		}
	}
	for _, c := range asked {
		if c.name != "" && c.id != "" && results[originalCall{id: c.id, source: c.source}] {
			paired++
		}
	}
	return len(asked), paired
}

// TestTheOriginalPairsItsOwn: the rule above finds in the original's bundles what
// its own program finds.
func TestTheOriginalPairsItsOwn(t *testing.T) {
	calls, paired := 0, 0
	for _, path := range fixtures(t) {
		c, p := originalPairs(t, unzip(t, path)[TranscriptFile])
		calls, paired = calls+c, paired+p
	}
	if calls == 0 || paired != calls {
		t.Errorf("%d of %d calls", paired, calls)
	}
}
