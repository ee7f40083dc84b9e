package collect

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/claude"
	"conclave/transcript"
	"conclave/workspace"
)

// target is a session file: whose it is and where its entries belong.
type target struct {
	path    string
	adapter string
	source  string
	session string // "" when the path does not tell
	project string
	run     string // the id of its record
	parent  string // Codex: the thread that started this one
}

func (t target) promptName() string {
	name := t.session
	if name == "" {
		name = filepath.Base(t.path)
	}
	if t.project == "" {
		return name
	}
	return t.project + "/" + name
}

var (
	uuidName    = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	rolloutName = regexp.MustCompile(`^rollout-.*?([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})\.jsonl$`)
)

var (
	// errNotYet: its first line has to come first.
	errNotYet = errors.New("it has no line yet")
	// errNoSession: nothing in it looks like an agent's session.
	errNoSession = errors.New("not a session file of a known agent")
)

// classify finds out what the file at path is. adapter, when it is not "",
// decides whose it is. Only a file whose path does not tell is looked into;
// any says that it is taken whatever it holds.
func classify(path, adapter string, any bool) (target, error) {
	t := target{path: path, adapter: adapter, source: transcript.Main}
	base := filepath.Base(path)
	if m := rolloutName.FindStringSubmatch(base); m != nil && adapter != transcript.AdapterClaude {
		return rollout(t, m[1])
	}
	if file, ok := claude.Locate(path); ok && adapter != transcript.AdapterCodex &&
		(file.Agent != "" || uuidName.MatchString(file.Session)) {
		t.adapter, t.session, t.source = transcript.AdapterClaude, file.Session, file.Source()
		t.project = filepath.Base(claudeProject(path, file))
		t.run = runID("claude", file.Session)
		return t, nil
	}
	if adapter == "" {
		line, err := firstLine(path)
		if err != nil {
			return t, err
		}
		t.adapter = sniff(line)
		if t.adapter == "" && !any {
			return t, errNoSession
		}
	}
	return byPath(t), nil
}

// byPath names a record after the path of its file.
func byPath(t target) target {
	kind := "codex"
	if t.adapter != transcript.AdapterCodex {
		t.adapter, kind = transcript.AdapterClaude, "claude"
	}
	base := filepath.Base(t.path)
	t.run = runID(kind+"-file", strings.TrimSuffix(base, filepath.Ext(base))+"-"+pathHash(t.path))
	t.project = filepath.Base(filepath.Dir(t.path))
	return t
}

// claudeProject is the directory of the project that the file belongs to.
func claudeProject(path string, file claude.File) string {
	dir := filepath.Dir(path)
	if file.Agent == "" {
		return dir
	}
	for filepath.Base(dir) != "subagents" {
		dir = filepath.Dir(dir)
	}
	return filepath.Dir(filepath.Dir(dir))
}

// rollout reads what the first line tells; without one it is too early.
func rollout(t target, thread string) (target, error) {
	t.adapter, t.session, t.run = transcript.AdapterCodex, thread, runID("codex", thread)
	line, err := firstLine(t.path)
	if err != nil {
		return t, err
	}
	cwd, _ := jsontext.String(jsontext.Get(line, "payload", "cwd"))
	t.parent, _ = jsontext.String(jsontext.Get(line, "payload", "parent_thread_id"))
	if t.project = "codex"; cwd != "" {
		t.project = filepath.Base(filepath.FromSlash(cwd))
	}
	return t, nil
}

// maxFirst bounds how much of a first line is looked at. A longer one is no
// sign of any agent, and is not needed: its path tells, or it was named.
const maxFirst = 4 << 20

// firstLine reads the first line that is not empty.
func firstLine(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoSession
	}
	f, err := workspace.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, maxFirst), 16<<10)
	for {
		line, err := r.ReadBytes('\n')
		if text := bytes.TrimSpace(line); len(text) > 0 && (err == nil || jsontext.Valid(text) || len(line) == maxFirst) {
			return text, nil
		}
		if err != nil {
			return nil, errNotYet
		}
	}
}

// runID makes an id that record accepts.
func runID(kind, name string) string {
	var b strings.Builder
	for _, c := range name {
		if c < 0x80 && (c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '_') {
			b.WriteRune(c)
		} else {
			b.WriteByte('-')
		}
	}
	id := kind + "-" + b.String()
	if len(id) > 80 {
		id = id[:80]
	}
	return strings.TrimRight(id, "-_")
}

func pathHash(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}
