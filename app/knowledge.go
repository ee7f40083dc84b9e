package app

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"conclave/audit"
	"conclave/bundle/redact"
	"conclave/policy"
	"conclave/quest/judging"
	door "conclave/workspace"
)

// TurnKnowledge is what one turn knew, what it did not and why, and what the
// audit of its run says of it.
type TurnKnowledge struct {
	*audit.Told
	Sound    bool            `json:"sound"` // digests and chain of the whole run verify
	Sealed   bool            `json:"sealed"`
	Findings []audit.Finding `json:"findings"`
	Gaps     []string        `json:"gaps"`
	Unseen   []string        `json:"unseen"` // what no record shows
}

// maxTold bounds each text of a turn that is shown; its entry has it whole.
const maxTold = 20_000

// Turn tells who knew what in one turn of a run of this workspace. Secrets in its
// words are removed, as the archive does.
func (a *App) Turn(run, turn string) (*TurnKnowledge, error) {
	if a.Remote != nil {
		return nil, personsOwn("to look into a room")
	}
	root, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	file, err := a.recordFile(root, run)
	if err != nil {
		return nil, err
	}
	f, err := door.OpenNamed(file)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	defer f.Close()
	told, err := audit.TellTurn(f, turn)
	if none := (*audit.NoTurnError)(nil); errors.As(err, &none) {
		return nil, usageError("%w", err)
	}
	if err != nil {
		return nil, environmentError("%s: %w", file, err)
	}
	report, err := auditFile(file, true)
	if err != nil {
		return nil, environmentError("%s: %w", file, err)
	}
	if err := a.hush(told); err != nil {
		return nil, err
	}
	k := &TurnKnowledge{Told: told, Sound: report.Sound, Sealed: report.Sealed,
		Findings: []audit.Finding{}, Gaps: report.Gaps, Unseen: report.Unseen}
	for _, x := range report.Findings {
		if x.Turn == "" || x.Turn == turn {
			k.Findings = append(k.Findings, x)
		}
	}
	return k, nil
}

// hush removes secrets from a turn's words, and cuts them where they are long.
func (a *App) hush(t *audit.Told) error {
	patterns, err := a.redactPatterns(nil)
	if err != nil {
		return err
	}
	r := redact.New(redact.Options{EnvValues: redact.SecretEnv(os.Environ()), Patterns: patterns})
	clean := func(text string) string {
		out, _ := r.Bytes(nil, []byte(text))
		if len(out) <= maxTold {
			return string(out)
		}
		for out = out[:maxTold]; !utf8.Valid(out); {
			out = out[:len(out)-1]
		}
		return string(out) + "…"
	}
	for i := range t.Parts {
		t.Parts[i].Text = clean(t.Parts[i].Text)
	}
	if t.Reply != nil {
		t.Reply.Text = clean(t.Reply.Text)
		t.Reply.Structured = nil
		for i := range t.Reply.Files {
			t.Reply.Files[i].Text = clean(t.Reply.Files[i].Text)
		}
	}
	return nil
}

// ProjectLines are lines of a file of the project that somebody cited.
type ProjectLines struct {
	Path  string   `json:"path"`
	From  int      `json:"from"` // the number of the first
	Total int      `json:"total"`
	Lines []string `json:"lines"`
}

// around is how many lines are shown before and behind what is cited.
const around = 12

// maxLine bounds a line that is shown.
const maxLine = 2000

// Cited is the place in a file of the project that somebody of the party points
// to, with the lines around it: of what the party may see, and of nothing else.
func (a *App) Cited(name string, line, end int) (*ProjectLines, error) {
	root, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	rel := filepath.ToSlash(filepath.Clean(name))
	if name == "" || !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, usageError("%q: name a file below the workspace", name)
	}
	dir, err := door.Open(root)
	if err != nil {
		return nil, refusedHere(err)
	}
	defer dir.Close()
	data, err := dir.Read(rel, door.MaxText)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usageError("there is no file %s in the workspace any more", rel)
	case err != nil:
		return nil, environmentError("%w", err)
	}
	read := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	if why := policy.View(policy.Bear, nil)(rel, false, read); why != "" {
		return nil, noError("%s is not shown: %s", rel, why)
	}
	if !utf8.Valid(data) {
		return nil, noError("%s is no text", rel)
	}
	return linesOf(rel, data, line, end)
}

func linesOf(rel string, data []byte, line, end int) (*ProjectLines, error) {
	out := &ProjectLines{Path: rel, Total: judging.CountLines(data)}
	if line < 1 || line > out.Total {
		return nil, usageError("%s has %d lines, and no line %d", rel, out.Total, line)
	}
	out.From = max(1, line-around)
	last := min(out.Total, max(line, min(end, line+200))+around)
	all := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for _, l := range all[out.From-1 : last] {
		if l = strings.TrimSuffix(l, "\r"); len(l) > maxLine {
			l = strings.ToValidUTF8(l[:maxLine], "") + "…"
		}
		out.Lines = append(out.Lines, l)
	}
	return out, nil
}
