package gateway

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/internal/jsontext"
)

// elsewhere are members of a request that stand for something which the
// provider keeps or reaches.
var elsewhere = []string{"previous_response_id", "conversation", "prompt", "container", "mcp_servers"}

// own are members that hold no messages: names and numbers, and the tools, which
// are judged by themselves.
var own = []string{"model", "metadata", "client_metadata", "tools"}

// localTools are the types of tools that the agent's program runs itself, in
// the room, or that look for one among those. A type that is not here, to the
// letter, is taken to run at the provider.
var localTools = []string{
	"custom", "function", "namespace", "local_shell", "shell", "apply_patch", "tool_search",
	"bash_20241022", "bash_20250124", "computer_20241022", "computer_20250124", "computer_20251124", "memory_20250818",
	"text_editor_20241022", "text_editor_20250124", "text_editor_20250429", "text_editor_20250728",
	"tool_search_tool_regex", "tool_search_tool_regex_20251119", "tool_search_tool_bm25", "tool_search_tool_bm25_20251119",
}

const maxDepth = 64 // of the content of a message

// selfContained says what a request refers to that is not in it.
func (t top) selfContained() error {
	for name, value := range t.members {
		if !plainKey(name) {
			return fmt.Errorf("the key %q is spelt as neither API spells one", clip(name))
		}
		if slices.Contains(elsewhere, name) && !slices.Contains(nothing, string(value)) {
			return fmt.Errorf("%q stands for something that the provider keeps or reaches", name)
		}
	}
	if err := checkTools(t.members["tools"], 0); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(t.members)) {
		if slices.Contains(own, name) {
			continue
		}
		c := cursor{b: t.members[name]}
		if err := c.content(0); err != nil {
			return err
		}
	}
	return nil
}

// nothing are the values of a member that stands for nothing.
var nothing = []string{"null", "[]", "{}", `""`}

// plainKey is how both APIs write their keys. Another spelling is none of
// theirs, or one that a lenient reader takes for theirs.
func plainKey(name string) bool {
	return name != "" && strings.IndexFunc(name, func(c rune) bool { return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_') }) < 0
}

func checkTools(list []byte, depth int) error {
	if len(list) == 0 || string(list) == "null" {
		return nil
	}
	if list[0] != '[' {
		return errors.New("its tools are no list")
	}
	if depth > maxDepth {
		return errTooDeep
	}
	return jsontext.Elements(list, func(tool []byte) error {
		m, err := members(tool)
		if err != nil {
			return fmt.Errorf("a tool cannot be judged: %w", err)
		}
		for name := range m {
			if !plainKey(name) {
				return fmt.Errorf("the key %q of a tool is spelt as neither API spells one", clip(name))
			}
		}
		kind, ok := toolKind(m["type"])
		if !ok {
			return fmt.Errorf("the tool %q is not known to run in the room: it may run at the provider", clip(kind))
		}
		if m["container"] != nil || m["environment"] != nil {
			return fmt.Errorf("the tool %q names a machine of the provider", clip(kind))
		}
		return checkTools(m["tools"], depth+1)
	})
}

// toolKind says what a tool is, and whether it runs in the room. One that does
// not say is the program's own.
func toolKind(raw []byte) (kind string, local bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", true
	}
	kind, ok := jsontext.String(raw)
	if !ok {
		return string(raw), false
	}
	return kind, slices.Contains(localTools, kind)
}

var errTooDeep = errors.New("its content is nested too deeply to be judged")

// part is an object within a message.
type part struct {
	kind  string
	file  string // one that the provider keeps
	fetch string // an address that is fetched wherever it stands
	url   string // one that may only say where something was found
}

// refers says what a part only points at.
func (p *part) refers() error {
	switch {
	case p.kind == "item_reference":
		return errors.New("an item of the input is only a reference")
	case p.kind == "container_upload":
		return errors.New("a part of a message lies in a container of the provider")
	case p.file != "":
		return fmt.Errorf("a part of a message is a file of the provider (%s)", clip(p.file))
	case p.url != "" && !slices.Contains(citations, p.kind):
		p.fetch = p.url
	}
	if p.fetch != "" {
		return fmt.Errorf("a part of a message is at an address that the provider would fetch (%s)", clip(p.fetch))
	}
	return nil
}

// citations and search results have addresses that nobody fetches.
var citations = []string{
	"url_citation", "web_search_result", "web_search_result_location", "search_result_location", "web_fetch_result",
}
