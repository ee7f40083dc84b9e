package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/transcript"
)

// Kind is Claude Code.
var Kind = &kind.Kind{
	Adapter: transcript.AdapterClaude,
	Name:    name,
	HomeVar: "CLAUDE_CONFIG_DIR", HomeDir: ".claude", Sessions: "projects",
	Sniff: Sniff,
	Locate: func(path string, first func() ([]byte, error)) (kind.File, bool, error) {
		if f, ok := locateBeside(path, first); ok {
			return f, true, nil
		}
		f, ok := Locate(path)
		if ok && !f.Main() && f.Session == "" {
			line, err := first()
			if err != nil {
				return f, false, err
			}
			f.Session = jsontext.Text(jsontext.Get(line, "sessionId"))
			ok = f.Session != ""
		}
		return f, ok && (!f.Main() || uuidName.MatchString(f.Session)), nil
	},
	NewMapper: func(f kind.File, o kind.Options) kind.Mapper {
		return NewMapper(Options{Source: f.Source, NoRaw: o.NoRaw, Reuse: o.Reuse})
	},
	NewWords: func() func([]byte, transcript.Type, []byte) []byte { return new(Words).Append },
	OwnerIn:  ownerIn,
	Stamp: func(line []byte) (int64, string) {
		at := jsontext.Get(line, "timestamp")
		if at == nil && Beside(line) != "" {
			at = jsontext.Get(line, "row", "timestamp")
		}
		return transcript.ParseTime(jsontext.Bare(at)), ""
	},
	Note:   Note,
	Starts: starts,
	Subagents: func(main string) string {
		return filepath.Join(strings.TrimSuffix(main, ".jsonl"), subagents)
	},
	Memory: 1 << 20, // the last few messages
	Store:  store,
	Rows:   rows,
}

// starts are the tools that start a subagent; older programs have the second name.
var starts = []string{"Agent", "Task"}

// subagents is the directory beside a main file in which those of its subagents
// lie.
const subagents = "subagents"

var uuidName = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// Locate says what the file at path is. Main files are
// …/projects/<slug>/<session>.jsonl; those of subagents, nested ones too, are
// …/<session>/subagents/agent-<id>.jsonl, possibly deeper; older programs put
// agent-<id>.jsonl beside the main file, and its lines tell of which session it
// is. Other files are not of this program.
func Locate(path string) (kind.File, bool) {
	f := kind.File{Path: path, Source: transcript.Main, Dir: filepath.Dir(path)}
	f.Project = filepath.Base(f.Dir)
	base, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	if !ok || base == "" {
		return f, false
	}
	f.Session = base
	if id, ok := strings.CutPrefix(base, "agent-"); ok && id != "" {
		f.Source, f.Session = transcript.Subagent(id), ""
		for dir := f.Dir; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			if filepath.Base(dir) == subagents {
				session := filepath.Dir(dir)
				f.Session, f.Dir = filepath.Base(session), filepath.Dir(session)
				break
			}
		}
	}
	f.Project = filepath.Base(f.Dir)
	return f, true
}

// ownerIn finds the session of a file, and which subagent's it is, on its
// first lines.
func ownerIn(start []byte) (session, source string) {
	if session = string(jsontext.Find(start, `"sessionId":"`)); session == "" {
		return "", ""
	}
	line, _, _ := bytes.Cut(start, []byte("\n"))
	m := jsontext.Members(line, "isSidechain", "agentId")
	if agent := jsontext.Text(m[1]); isTrue(m[0]) && agent != "" {
		return session, transcript.Subagent(agent)
	}
	return session, transcript.Main
}

// Note reads what the program notes beside a subagent's file. It is false for a
// main file, and as long as the note is not there or not complete.
func Note(f kind.File) (n kind.Note, ok bool, err error) {
	if f.Main() {
		return n, false, nil
	}
	b, err := os.ReadFile(strings.TrimSuffix(f.Path, ".jsonl") + ".meta.json")
	if errors.Is(err, fs.ErrNotExist) {
		return n, false, nil
	}
	if err != nil {
		return n, false, fmt.Errorf("read subagent note: %w", err)
	}
	var meta struct {
		AgentType     string `json:"agentType"`
		ToolUseID     string `json:"toolUseId"`
		SpawnDepth    int    `json:"spawnDepth"`
		ParentAgentID string `json:"parentAgentId"` // of a nested one; only the newer program says so
	}
	if json.Unmarshal(b, &meta) != nil {
		return n, false, nil // still being written
	}
	n = kind.Note{Role: meta.AgentType, ToolUseID: meta.ToolUseID, Depth: meta.SpawnDepth}
	if meta.ParentAgentID != "" {
		n.Parent = transcript.Subagent(meta.ParentAgentID)
	}
	return n, true, nil
}

// Sniff says whether a line is one of this program's: it has a type, and
// something that only such a line has. That a line names its session is no sign
// by itself: others do so, too.
func Sniff(line []byte) bool {
	if Beside(line) != "" {
		return true
	}
	var typ []byte
	var marked, ofSession bool
	err := jsontext.Walk(line, func(key, value []byte) error {
		switch string(key) {
		case "type":
			typ = nil
			if len(value) > 2 && value[0] == '"' {
				typ = value
			}
		case "sessionId", "session_id":
			ofSession = true
		case "uuid", "parentUuid", "leafUuid":
			marked = true
		}
		return nil
	})
	if err != nil || typ == nil {
		return false
	}
	name := jsontext.Bare(typ)
	return marked || simpleTypes[string(typ)] || ofSession && (housekeeping[string(name)] || streamed[string(name)])
}

// SniffStart is Sniff for a line of which there is only the beginning: it names its
// session, and is one of the conversation, or of what lies beside it.
func SniffStart(start []byte) bool {
	has := func(mark string) bool { return bytes.Contains(start, []byte(mark)) }
	return Beside(start) != "" || bytes.HasPrefix(start, []byte("{")) && has(`"sessionId":`) &&
		(has(`"parentUuid":`) || has(`"type":"user"`) || has(`"type":"assistant"`))
}

// streamed are types of lines that the program prints, or keeps beside what was
// said.
var streamed = setOf("result", "stream_event", "rate_limit_event", "attachment", "api-request", "api-request-blob",
	"api-request-shape", "tool_progress", "auth_status")

// simpleTypes are those of the specification's own table, and those that open a
// conversation over pipes.
var simpleTypes = map[string]bool{`"user"`: true, `"assistant"`: true, `"tool_result"`: true,
	`"thinking"`: true, `"summary"`: true, `"system"`: true, `"control_request"`: true, `"control_response"`: true}
