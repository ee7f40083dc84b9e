package codex

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

// Kind is Codex.
var Kind = &kind.Kind{
	Adapter: transcript.AdapterCodex,
	Name:    "codex",
	HomeVar: "CODEX_HOME", HomeDir: ".codex", Sessions: "sessions", Archived: "archived_sessions",
	Sniff:     func(line []byte) bool { return Sniff(line) != FormatUnknown },
	Locate:    Locate,
	NewMapper: func(kind.File, kind.Options) kind.Mapper { return new(FileMapper) },
	NewWords:  func() func([]byte, transcript.Type, []byte) []byte { return AppendWords },
	Free:      free,
	Starts:    []string{"spawn_agent"},
	Threads: func(line []byte) (name, parent string) {
		m := jsontext.Members(jsontext.Get(line, "payload"), "agent_nickname", "parent_thread_id")
		return jsontext.Text(m[0]), jsontext.Text(m[1])
	},
	SessionIn: func(start []byte) string {
		for _, mark := range []string{`"session_id":"`, `"thread_id":"`, `"id":"`} {
			if id := jsontext.Find(start, mark); len(id) > 0 {
				return string(id)
			}
		}
		return ""
	},
	Store: func(path string) bool {
		name, packed := strings.CutSuffix(filepath.Base(path), kind.Packed)
		return packed && rolloutName.MatchString(name)
	},
	OwnerIn: func(start []byte) (session, source string) {
		line, _, _ := bytes.Cut(start, []byte("\n"))
		meta := jsontext.Members(line, "type", "payload")
		if string(meta[0]) != `"session_meta"` {
			return "", ""
		}
		return jsontext.Text(jsontext.Get(meta[1], "id")), transcript.Main
	},
	Stamp: func(line []byte) (at int64, model string) {
		return timeOf(line, bytes.HasPrefix(line, []byte(`{"timestamp":`))), string(jsontext.Find(line, modelMark))
	},
}

// modelMark is before the name of a model, on whatever line it is told.
const modelMark = `"model":"`

// timeOf is that of a line. Those of rollouts begin with it; what the
// app-server writes has the time at which it was sent.
func timeOf(line []byte, rollout bool) int64 {
	if rollout {
		return transcript.ParseTime(jsontext.Find(line, `"timestamp":"`))
	}
	m := jsontext.Members(line, "timestamp", "emittedAtMs")
	if m[0] != nil {
		return transcript.ParseTime(jsontext.Bare(m[0]))
	}
	ms, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return min(max(ms, 0), maxMillis) * 1000
}

// maxMillis is the end of the year 9999.
const maxMillis = 253402300799999

// free knows the lines of a rollout that have no part in figures.
func free(line []byte) bool {
	head := line[:min(len(line), 240)]
	for _, mark := range []string{`"session_meta"`, `"token_`, `"turn_context"`} {
		if bytes.Contains(head, []byte(mark)) {
			return false
		}
	}
	return Sniff(line) == FormatRollout
}

var rolloutName = regexp.MustCompile(
	`^rollout-.*?([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})\.jsonl$`)

// Locate says what the file at path is. Rollouts bear the name of their thread;
// where it ran and what started it stand on their first line.
func Locate(path string, first func() ([]byte, error)) (kind.File, bool, error) {
	m := rolloutName.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return kind.File{}, false, nil
	}
	f := kind.File{Path: path, Source: transcript.Main, Session: m[1], Dir: filepath.Dir(path)}
	line, err := first()
	if err != nil {
		return f, true, err
	}
	cwd := jsontext.Text(jsontext.Get(line, "payload", "cwd"))
	f.Parent = jsontext.Text(jsontext.Get(line, "payload", "parent_thread_id"))
	if f.Project = "codex"; cwd != "" {
		f.Project = filepath.Base(filepath.FromSlash(cwd))
	}
	return f, true, nil
}
