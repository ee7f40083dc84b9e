package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"conclave/internal/modelstub"
	"conclave/internal/sample"
)

// played are the files that each who played has left, by name.
type played struct{ by sync.Map }

func (p *played) left(x realProgram, files map[string]string) {
	p.by.Store(x.name+" "+x.version, files)
}

// alike wants from everybody the files of the script, byte for byte. The embedded
// party has words of its own: of its files and the script's the shapes are held
// against each other.
func (p *played) alike(t *testing.T, shape func(name, text string) string) {
	first, ok := p.by.Load(theScript.name + " " + theScript.version)
	if !ok {
		t.Log("the script has left no files to hold the others' against")
		return
	}
	p.by.Range(func(who, files any) bool {
		read := func(name, text string) string { return text }
		if who == theOffline.name+" "+theOffline.version {
			read = shape
		}
		want, got := first.(map[string]string), files.(map[string]string)
		for name := range want {
			if text, there := got[name]; !there {
				t.Errorf("%s: there is no %s", who, name)
			} else if want, got := read(name, want[name]), read(name, text); got != want {
				t.Errorf("%s: %s is not as from the script:\n%s\nbut\n%s", who, name, want, got)
			}
		}
		for name := range got {
			if _, there := want[name]; !there {
				t.Errorf("%s: %s is there, and nobody else's", who, name)
			}
		}
		return true
	})
}

// moment is a day or a minute in a file or in its name.
var moment = regexp.MustCompile(`\d{4}-\d{2}-\d{2}([-T ]\d{2}[-:]\d{2}(:\d{2})?Z?)?`)

// files are those below a folder of the workspace, without their times.
func (w *real) files(root string) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Join(w.dir, root), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(w.dir, path)
		out[moment.ReplaceAllString(rel, "TIME")] = moment.ReplaceAllString(string(text), "TIME")
		return err
	})
	if err != nil || len(out) < 6 {
		w.t.Fatalf("%d files below %s: %v", len(out), root, err)
	}
	return out
}

// partyScript has the words of the model for a script.
func partyScript() string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "turn on %s\n  say <<END\n%s\nEND\n", l.asked, l.says)
		if strings.HasPrefix(l.asked, "What of the flood") {
			b.WriteString("  tool log_progress {\"text\":\"Bread baked\"}\n  say Noted.\n")
		}
		for i, v := range verdicts {
			if l == lines[2+i] {
				fmt.Fprintf(&b, "  tool submit_verdict %s\n  say Handed in.\n", v.says)
			}
		}
	}
	for _, f := range forms[:1] {
		fmt.Fprintf(&b, "turn on %s\n  answer %s\n", f.asked, f.says)
	}
	return b.String()
}

// structure is what a file of a quest has from the program: its head, its
// headings, who speaks, the kinds of the log's lines, and a verdict.
var structure = regexp.MustCompile(`(?m)^(---|(agent|phase|campaign-mode|date|created): .*|# |##+ .*|` +
	`Quest: |Consultation purpose: .*|\*\*Verdict:\*\* .*|\*\*[^*\n]+:\*\*|- \*\*[^*\n]+\*\* — |\|)`)

// questShape is a file of a quest without the words. An advisor without a model
// notes no progress.
func questShape(_, text string) string {
	for _, l := range lines {
		text = strings.ReplaceAll(text, strings.ReplaceAll(l.says, "\n**User:**", "\n\\**User:**"), "")
	}
	text = regexp.MustCompile(`(?m)^- \*\*Progress\*\* .*\n`).ReplaceAllString(text, "")
	return strings.Join(structure.FindAllString(text, -1), "\n")
}

// TestScenesAlike plays a short scene at a table with a script, with models and with
// real programs as game master, player and keeper of the journal: the same files, but
// for times and what the dice fell to. The embedded party has player and journal.
func TestScenesAlike(t *testing.T) {
	sample.Long(t)
	scene, err := txtar.ParseFile(filepath.Join("testdata", "models", "table.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range scene.Files {
		files[f.Name] = string(f.Data)
	}
	chosen := []realProgram{theScript, theOffline}
	for _, some := range [][]realProgram{models(), realPrograms(t)} {
		for _, i := range sample.Pick(t, len(some), 1, 1) { // a program may need a minute
			chosen = append(chosen, some[i])
		}
	}
	all := played{}
	t.Cleanup(func() { all.alike(t, sceneShape) })
	for _, x := range chosen {
		t.Run(x.name+" "+x.version, func(t *testing.T) {
			t.Parallel()
			answers, err := readAnswers(files["scene.txt"])
			if err != nil {
				t.Fatal(err)
			}
			answers.oneByOne()
			stub := modelstub.New(modelstub.Named(answers.reply))
			defer stub.Close()
			w := x.seated(t, stub, answers.script(), "gm", "player", "journal-keeper")
			for name, text := range files {
				if strings.HasPrefix(name, "campaigns/") {
					w.write(name, text)
				}
			}
			w.run(0, "table", "play", "ash", "--auto")
			if got := w.out.String(); !strings.Contains(got, "She creeps on.") || strings.Contains(got, "A key glints") {
				t.Errorf("the table was told\n%s", got)
			}
			w.run(0, "table", "dice", "verify", "ash")
			w.run(0, "table", "audit", "ash")
			left := w.files("campaigns")
			for name, text := range left {
				left[name] = luck.ReplaceAllString(rare.ReplaceAllString(text, ""), "LUCK")
			}
			if state := left["campaigns/ash/story-state.md"]; state != files["want/story-state.md"] {
				t.Errorf("the state is\n%s", state)
			}
			all.left(x, left)
		})
	}
}

// luck is what dice fell to and what comes of it: the faces, sums and verdicts of
// rolls, the seed and salts they are proved by, and the names made of chance.
var luck = regexp.MustCompile(`= \[\d+\][^"\n]*|\b[0-9a-f]{16,64}\b|\bc\d{6}-[0-9a-f]{8}\b|` +
	`"(faces|value|total|margin|success)":(\[\d+\]|-?\d+|true|false)`)

// rare is what only some rolls bear: it is told of a one and of a twenty alone.
var rare = regexp.MustCompile(`,"natural":\d+`)

// sceneShape is a file of a campaign without the words of player and journal. A
// player without a model throws no dice but those it is asked for, so that they
// alone are held against each other: who, for what, in whose sight.
func sceneShape(name, text string) string {
	switch filepath.Base(name) {
	case "dice-log.jsonl":
		return strings.Join(regexp.MustCompile(`(?m)^.*needed \d.*$`).FindAllString(text, -1), "\n")
	case "tilda-brannock-journal.md":
		return strings.Join(regexp.MustCompile(`(?m)^(# .*|---|### |- [A-Z][^:\n]*: )`).FindAllString(text, -1), "\n")
	}
	return text
}

// oneByOne has every call in an answer of its own: some programs carry out
// several at once, in what order they like.
func (l *scriptedAnswers) oneByOne() {
	for _, a := range l.all {
		var single []modelstub.Reply
		for _, r := range a.replies {
			begun := modelstub.Reply{}
			for _, b := range r.Blocks {
				if begun.Blocks = append(begun.Blocks, b); b.Kind == modelstub.ToolUse {
					single, begun = append(single, begun), modelstub.Reply{}
				}
			}
			if len(begun.Blocks) > 0 {
				single = append(single, begun)
			}
		}
		a.replies = single
	}
}

// script has the answers for a script.
func (l *scriptedAnswers) script() string {
	var b strings.Builder
	for _, a := range l.all {
		fmt.Fprintf(&b, "always on %s\n", a.message)
		for _, r := range a.replies {
			for _, x := range r.Blocks {
				if x.Kind == modelstub.ToolUse {
					fmt.Fprintf(&b, "  tool %s %s\n", x.Name, x.Input)
				} else {
					fmt.Fprintf(&b, "  say <<END\n%s\nEND\n", x.Text)
				}
			}
		}
	}
	return b.String()
}
