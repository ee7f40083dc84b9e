package bundle

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"conclave/audit"
	"conclave/bundle/redact"
	"conclave/internal/plant"
	"conclave/internal/sample"
	"conclave/record"
	"conclave/transcript"
)

// plantedRun puts every secret and every look-alike into tool arguments and
// results, into messages, receipts, blobs and files.
func plantedRun(t *testing.T, secrets []plant.Secret, innocents []string) (path, workspace string) {
	t.Helper()
	workspace = t.TempDir()
	path = newRecord(t, workspace, "r", func(w *record.Writer, e *transcript.Emitter) {
		for i, s := range secrets {
			arguments, _ := json.Marshal(map[string]string{"command": s.Text})
			said(t, e, transcript.ToolUse, map[string]any{"sdk_entry": map[string]any{"name": "Bash", "input": json.RawMessage(arguments), "text": string(arguments)}})
			said(t, e, transcript.ToolResult, map[string]any{"content": "line one\n" + s.Text + "\nline three"})
			if err := w.AppendBlob("gateway.request", arguments); err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				event(t, e, audit.EventMessage, audit.Message{Turn: "t", Attempt: 1, Parts: []audit.Part{{Origin: "person", Text: s.Text}}})
				event(t, e, audit.EventReply, audit.Reply{Turn: "t", Attempt: 1, Text: s.Text})
				event(t, e, audit.EventFailed, audit.Failed{Turn: "u", Attempt: 1, Error: s.Text})
				event(t, e, audit.EventReceipt, audit.Receipt{Turn: "t", Session: "s1", Program: s.Text})
			}
		}
		for _, text := range innocents {
			said(t, e, transcript.ToolResult, map[string]any{"content": text})
			if err := w.AppendBlob("gateway.request", []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	})
	for i, s := range secrets {
		file := filepath.Join(workspace, "src", "f"+string(rune('a'+i%26)), strings.ReplaceAll(s.Kind, " ", "_")+".txt")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("before\n"+s.Text+"\nafter\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(workspace, "src", "innocent.txt"), []byte(strings.Join(innocents, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, workspace
}

func TestNoPlantedSecretInABundle(t *testing.T) {
	sample.Long(t)
	for seed := uint64(1); seed <= 3; seed++ {
		secrets, innocents := plant.Secrets(seed), plant.Innocents(seed)
		if len(secrets) < 60 || len(innocents) < 200 {
			t.Fatalf("%d secrets and %d look-alikes are planted", len(secrets), len(innocents))
		}
		path, ws := plantedRun(t, secrets, innocents)
		command := []string{"conclave", "--password", secrets[0].Value}
		made := mustCreate(t, Options{Record: path, Workspace: ws, WithWorkspace: true, Environ: plant.Environ(secrets), Command: command,
			Config: map[string]string{"note": secrets[4].Text}})
		files := unzip(t, made.Path)
		for name, text := range files {
			for _, s := range secrets {
				if bytes.Contains(text, []byte(s.Value)) {
					t.Errorf("seed %d: %s is in %s", seed, s.Kind, name)
				}
			}
		}
		for _, text := range innocents {
			quoted, _ := json.Marshal(text)
			plain := bytes.ReplaceAll(bytes.ReplaceAll(bytes.ReplaceAll(quoted, []byte(`\u003c`), []byte("<")), []byte(`\u003e`), []byte(">")), []byte(`\u0026`), []byte("&"))
			if !bytes.Contains(files[TranscriptFile], quoted[1:len(quoted)-1]) && !bytes.Contains(files[TranscriptFile], plain[1:len(plain)-1]) {
				t.Errorf("seed %d: not in the transcript any more: %s", seed, text)
			}
			if !bytes.Contains(files["filesystem/src/innocent.txt"], []byte(text)) {
				t.Errorf("seed %d: not in the file any more: %s", seed, text)
			}
		}
		checkCounts(t, made, len(secrets))
	}
}

// checkCounts: what was removed is counted by kind and place, and of each
// withheld frame the digest stayed.
func checkCounts(t *testing.T, made Created, secrets int) {
	t.Helper()
	red := made.Manifest.Redaction
	if !red.Applied || red.Kinds["github-token"] == 0 || red.Kinds["private-key"] == 0 || red.Places[logFile].Total() < 2*secrets ||
		red.Places[TranscriptFile].Total() < 2*secrets || red.Places["environment/command.txt"].Total() == 0 || red.Places[configFile].Total() == 0 || red.Places[errorFile].Total() == 0 {
		t.Errorf("counted %+v", red)
	}
	rep, err := VerifyFile(made.Path)
	if err != nil || rep.Record == nil || rep.Record.Withheld < uint64(3*secrets) || rep.Record.Head != made.Manifest.Record.Head {
		t.Errorf("the copy of the record: %+v, %v", rep.Record, err)
	}
}

func TestNoRedactIsAChoice(t *testing.T) {
	secrets := plant.Secrets(5)
	path, _ := plantedRun(t, secrets, nil)
	made := mustCreate(t, Options{Record: path, NoRedact: true, Environ: plant.Environ(secrets)})
	if made.Manifest.Redaction.Applied || made.Manifest.Record.Withheld != 0 || !bytes.Contains(unzip(t, made.Path)[manifestFile], []byte(`"applied": false`)) {
		t.Errorf("%+v", made.Manifest.Redaction)
	}
	if !bytes.Contains(unzip(t, made.Path)[logFile], []byte(secrets[0].Value)) {
		t.Error("it was redacted all the same")
	}
}

func TestASecretInTheHeaderKeepsTheRecordAway(t *testing.T) {
	secret := plant.Secrets(6)[4]
	path := filepath.Join(t.TempDir(), "r.record")
	w, err := record.Create(path, record.Header{Run: "r", Attributes: map[string]string{"prompt_name": secret.Value}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Seal("done with " + secret.Value); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	made := mustCreate(t, Options{Record: path})
	for name, text := range unzip(t, made.Path) {
		if bytes.Contains(text, []byte(secret.Value)) {
			t.Errorf("it is in %s", name)
		}
	}
	if made.Manifest.Record.Omitted == "" {
		t.Error("nobody says that the record is left out")
	}
}

// TestRoomKeysStay: the keys of fingerprints look secret, and an audit of the
// bundle needs them.
func TestRoomKeysStay(t *testing.T) {
	key := []byte(plant.Secrets(8)[2].Value)[:32]
	path := newRecord(t, t.TempDir(), "r", func(_ *record.Writer, e *transcript.Emitter) {
		event(t, e, audit.EventRoom, audit.Room{Role: "cat", Key: key})
	})
	if made := mustCreate(t, Options{Record: path}); made.Manifest.Record.Withheld != 0 {
		t.Errorf("%+v", made.Manifest.Redaction)
	}
}

// TestAPatternThatHitsTheEnvelope: whatever a person's pattern matches, lines
// stay lines of JSON and the transcript stays the log's.
func TestAPatternThatHitsTheEnvelope(t *testing.T) {
	path := simple(t, t.TempDir(), "r")
	for _, p := range []string{"entry", "transcript", `"event":"transcript.entry"`, "[0-9]+", "true|false|null", `.+`, `[{}"]`} {
		mustCreate(t, Options{Record: path, Patterns: []redact.Pattern{{Kind: "own", Regexp: regexp.MustCompile(p)}}})
	}
}
