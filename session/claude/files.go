package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/transcript"
)

// File is a session file of the program, as its path tells.
type File struct {
	Path    string
	Session string // the session it belongs to
	Agent   string // the subagent's id; "" for the main file
}

// Locate says what the file at path is. Main files are
// …/projects/<slug>/<session>.jsonl; those of subagents, nested ones too, are
// …/<session>/subagents/agent-<id>.jsonl, possibly deeper. Other files are not
// of this program.
func Locate(path string) (File, bool) {
	base, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	if !ok || base == "" {
		return File{}, false
	}
	if id, ok := strings.CutPrefix(base, "agent-"); ok && id != "" {
		for dir := filepath.Dir(path); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			if filepath.Base(dir) == "subagents" {
				return File{Path: path, Session: filepath.Base(filepath.Dir(dir)), Agent: id}, true
			}
		}
	}
	return File{Path: path, Session: base}, true
}

// Source is the source of the file's entries.
func (f File) Source() string {
	if f.Agent == "" {
		return transcript.Main
	}
	return transcript.Subagent(f.Agent)
}

// Meta is what the program notes beside a subagent's file.
type Meta struct {
	AgentType     string `json:"agentType"`
	Description   string `json:"description"`
	ToolUseID     string `json:"toolUseId"`
	SpawnDepth    int    `json:"spawnDepth"`
	ParentAgentID string `json:"parentAgentId"`
}

// Meta reads the note beside the file. It is false for a main file, and as
// long as the note is not there or not complete.
func (f File) Meta() (Meta, bool, error) {
	if f.Agent == "" {
		return Meta{}, false, nil
	}
	path := strings.TrimSuffix(f.Path, ".jsonl") + ".meta.json"
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Meta{}, false, nil
	}
	if err != nil {
		return Meta{}, false, fmt.Errorf("read subagent note: %w", err)
	}
	var m Meta
	if json.Unmarshal(b, &m) != nil {
		return Meta{}, false, nil // still being written
	}
	return m, true, nil
}

// Parent says where the subagent of m hangs. The newer program names the
// parent of a nested agent; of the older one callers tell which source made
// the tool call, and nil or "" from toolCaller means that it is not known.
func (m Meta) Parent(toolCaller func(toolUseID string) string) Parent {
	p := Parent{ToolUseID: m.ToolUseID}
	switch {
	case m.ParentAgentID != "":
		p.Source = transcript.Subagent(m.ParentAgentID)
	case toolCaller != nil && toolCaller(m.ToolUseID) != "":
		p.Source = toolCaller(m.ToolUseID)
	case m.SpawnDepth <= 1:
		p.Source = transcript.Main
	}
	return p
}
