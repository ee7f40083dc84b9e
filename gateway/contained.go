package gateway

import (
	"errors"
	"fmt"
	"strings"

	"conclave/internal/jsontext"
)

// elsewhere are members of a request that stand for something which the
// provider keeps or reaches.
var elsewhere = []string{"previous_response_id", "conversation", "prompt", "container", "mcp_servers"}

// localTools are the types of tools that the agent's program runs itself, in
// the room. A type that is not here is taken to run at the provider. Those
// that end in "_" go on with a version.
var localTools = []string{
	"", "custom", "function", "namespace", "local_shell", "shell", "apply_patch", "tool_search",
	"bash_", "text_editor_", "computer_", "memory_", "tool_search_tool_",
}

const maxDepth = 64 // of the content of a message

// selfContained says what a request refers to that is not in it.
func (t top) selfContained() error {
	for _, name := range elsewhere {
		if v := string(t.members[name]); v != "" && v != "null" && v != "[]" && v != "{}" && v != `""` {
			return fmt.Errorf("%q stands for something that the provider keeps or reaches", name)
		}
	}
	if err := checkTools(t.members["tools"], 0); err != nil {
		return err
	}
	for _, name := range []string{"messages", "input", "system"} {
		c := cursor{b: t.members[name]}
		if err := c.content(0); err != nil {
			return err
		}
	}
	return nil
}

func checkTools(list []byte, depth int) error {
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	if depth > maxDepth {
		return errTooDeep
	}
	return jsontext.Elements(list, func(tool []byte) error {
		m, err := members(tool)
		if err != nil {
			return fmt.Errorf("a tool cannot be judged: %w", err)
		}
		kind, _ := jsontext.String(m["type"])
		if !isLocalTool(kind) {
			return fmt.Errorf("the tool %q runs at the provider", clip(kind))
		}
		if m["container"] != nil || m["environment"] != nil {
			return fmt.Errorf("the tool %q names a machine of the provider", clip(kind))
		}
		return checkTools(m["tools"], depth+1)
	})
}

func isLocalTool(kind string) bool {
	for _, k := range localTools {
		if k == kind || strings.HasSuffix(k, "_") && strings.HasPrefix(kind, k) {
			return true
		}
	}
	return false
}

var errTooDeep = errors.New("its content is nested too deeply to be judged")

// part is an object within a message.
type part struct {
	kind  string
	twice bool   // it says twice what it is
	file  string // one that the provider keeps
	fetch string // an address that is fetched wherever it stands
	url   string // one that may only say where something was found
}

// refers says what a part only points at.
func (p *part) refers() error {
	switch {
	case p.twice:
		return errors.New("a part of a message says twice what it is")
	case p.kind == "item_reference":
		return errors.New("an item of the input is only a reference")
	case p.kind == "container_upload":
		return errors.New("a part of a message lies in a container of the provider")
	case p.file != "":
		return fmt.Errorf("a part of a message is a file of the provider (%s)", clip(p.file))
	case p.url != "" && p.isSource():
		p.fetch = p.url
	}
	if p.fetch != "" {
		return fmt.Errorf("a part of a message is at an address that the provider would fetch (%s)", clip(p.fetch))
	}
	return nil
}

// isSource leaves alone the addresses of citations and of search results.
func (p *part) isSource() bool {
	switch p.kind {
	case "url", "input_image", "input_file", "image", "document", "image_url", "file", "":
		return true
	}
	return false
}
