package gateway

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"conclave/internal/jsontext"
)

const maxDepth = 64 // of the content of a message

// selfContained says what a request refers to that is not in it.
func (t top) selfContained() error {
	a := t.api
	for _, name := range t.names {
		if !a.spelt(name) {
			return fmt.Errorf("the key %q is spelt as this API spells none", clip(name))
		}
		value := t.members[a.known(name)]
		if a.reaches(a.known(name), value) {
			return fmt.Errorf("%q stands for something that the provider keeps or reaches", name)
		}
	}
	if err := a.checkTools(t.members["tools"], 0); err != nil {
		return err
	}
	if inner, ok := t.members[a.inner]; ok {
		in, err := a.readTop(inner, t.model)
		if err != nil {
			return fmt.Errorf("the request within it cannot be judged: %w", err)
		}
		in.nested = true
		if t.nested {
			return errTooDeep
		}
		if err := in.selfContained(); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.members)) {
		if slices.Contains(a.own, name) {
			continue
		}
		c := cursor{api: a, b: t.members[name]}
		if err := c.content(0); err != nil {
			return err
		}
	}
	return nil
}

// reaches says whether a member of a request stands for something that is not
// in it. Where the members are listed, an empty object is a setting as well.
func (a *api) reaches(name string, value []byte) bool {
	if a.members == nil {
		return slices.Contains(a.elsewhere, name) && !slices.Contains(nothing, string(value))
	}
	return !slices.Contains(a.members, name) && !slices.Contains(unset, string(value)) && !isNumber(value)
}

// nothing are the values of a member that stands for nothing; unset are those
// that do so whatever the member is.
var (
	nothing = []string{"null", "[]", "{}", `""`}
	unset   = []string{"null", "[]", "false", `""`}
)

func isNumber(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || '0' <= value[0] && value[0] <= '9')
}

// known is the name under which an API knows a key: as it is written, unless
// that API has several spellings of one.
func (a *api) known(name string) string {
	if a.lenient {
		return a.same(name)
	}
	return name
}

func (a *api) checkTools(list []byte, depth int) error {
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
		m, names, err := a.object(tool)
		if err != nil {
			return fmt.Errorf("a tool cannot be judged: %w", err)
		}
		for _, name := range names {
			if !a.spelt(name) {
				return fmt.Errorf("the key %q of a tool is spelt as this API spells none", clip(name))
			}
		}
		return a.tool(a, m, depth)
	})
}

// typedTool judges a tool by its type. One that does not say is the program's
// own; one that is not in the list, to the letter, is the provider's.
func typedTool(local []string) func(*api, map[string][]byte, int) error {
	return func(a *api, tool map[string][]byte, depth int) error {
		kind, ok := "", true
		if raw := tool["type"]; len(raw) > 0 && string(raw) != "null" {
			if kind, ok = jsontext.String(raw); !ok {
				kind = string(raw)
			}
			ok = ok && slices.Contains(local, kind)
		}
		if !ok {
			return runsElsewhere(kind)
		}
		if tool["container"] != nil || tool["environment"] != nil {
			return fmt.Errorf("the tool %q names a machine of the provider", clip(kind))
		}
		return a.checkTools(tool["tools"], depth+1)
	}
}

func runsElsewhere(tool string) error {
	return fmt.Errorf("the tool %q is not known to run in the room: it may run at the provider", clip(tool))
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
