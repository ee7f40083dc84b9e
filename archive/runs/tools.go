package runs

import (
	"bytes"
	"encoding/json"
	"strings"

	"conclave/internal/jsontext"
)

// edits says whether a tool of that name changes files, as the programs call it.
func edits(tool string) bool {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit", // Claude Code
		"apply_patch", "fileChange", "file_change", // Codex
		"write_file", "replace", "edit", // Gemini CLI, Qwen Code
		"write", "patch", "multiedit", // opencode
		"create", "str_replace", "str_replace_editor", "write_to_file", "replace_in_file", "editor": // others
		return true
	}
	return false
}

// Change is what a call of a tool changed in one file, as far as the call tells.
type Change struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// changes reads what a tool that edits was called with.
func changes(input []byte) []Change {
	if patch, ok := patchIn(input); ok {
		return patched(patch)
	}
	c := Change{Path: text(input, "file_path", "path", "filePath", "notebook_path", "absolute_path")}
	if c.Path == "" {
		return listed(jsontext.Get(input, "changes"))
	}
	c.count(input)
	if several := jsontext.Get(input, "edits"); len(several) > 0 && several[0] == '[' {
		_ = jsontext.Elements(several, func(v []byte) error {
			c.count(v)
			return nil
		}) // it was valid as a part of the line
	}
	return []Change{c}
}

func (c *Change) count(v []byte) {
	c.Removed += lines(text(v, "old_string", "oldString", "old_str"))
	c.Added += lines(text(v, "new_string", "newString", "new_str", "content", "new_source", "file_text"))
}

// listed reads a list of changes with a diff each, or an object of them by path.
func listed(v []byte) (list []Change) {
	type change struct {
		Path string `json:"path"`
		Diff string `json:"unified_diff"`
		Text string `json:"diff"`
	}
	var named []change
	if json.Unmarshal(v, &named) != nil {
		var by map[string]change
		if json.Unmarshal(v, &by) != nil {
			return nil
		}
		for path, c := range by {
			c.Path = path
			named = append(named, c)
		}
	}
	for _, c := range named {
		added, removed := counted(c.Diff + c.Text)
		list = append(list, Change{c.Path, added, removed})
	}
	return list
}

// patchIn finds the text of a patch in what a tool was called with.
func patchIn(input []byte) (string, bool) {
	patch := jsontext.Text(input)
	if patch == "" {
		patch = text(input, "patch", "input", "patchText", "patch_text")
	}
	return patch, strings.Contains(patch, "*** Begin Patch")
}

func patched(patch string) (list []Change) {
	for line := range strings.Lines(patch) {
		for _, verb := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if path, ok := strings.CutPrefix(line, verb); ok {
				list = append(list, Change{Path: strings.TrimSpace(path)})
			}
		}
		if len(list) == 0 {
			continue
		}
		added, removed := counted(line)
		list[len(list)-1].Added += added
		list[len(list)-1].Removed += removed
	}
	return list
}

// counted counts the lines of a diff.
func counted(diff string) (added, removed int) {
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// text is the first of an object's members that is a text.
func text(object []byte, names ...string) string {
	for _, n := range names {
		if v := jsontext.Get(object, n); len(v) > 0 && v[0] == '"' {
			return jsontext.Text(v)
		}
	}
	return ""
}

func lines(s string) int {
	if s == "" {
		return 0
	}
	return bytes.Count([]byte(strings.TrimSuffix(s, "\n")), []byte("\n")) + 1
}
