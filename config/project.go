package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"conclave/frontmatter"
)

// ownError refuses a project's file that says what only the person may say.
type ownError struct {
	file, own string // the project's file; the person's own
	line      int
	key       string
	lines     []string // what to move, for the person's own file
}

func (e *ownError) Error() string {
	return fmt.Sprintf("%s:%d: %s is a decision about your machine: a project's file does not name it\nif you want it, move it into %s:\n  %s",
		e.file, e.line, e.key, e.own, strings.Join(e.lines, "\n  "))
}

// ParseProject decodes a project's file. own is the path of the person's own
// file: what a project must not say is refused with the lines to put there.
func ParseProject(data []byte, file, own string) (Config, error) {
	c, err := Parse(data)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	for _, k := range []struct {
		key   string
		lines []string
	}{
		{"programs", mapLines("programs", absolute(c.Programs, filepath.Dir(file)))},
		{"tools", listLines("tools", c.Tools)},
		{"workspaces", listLines("workspaces", c.Workspaces)},
		{"lower", mapLines("lower", c.Lower)},
		{"agents: login", loginLines(c.Agents)},
		{"database", valueLine("database", c.Database)},
		{"prices", priceLines(c.Prices)},
		{"acp", acpLines(c.ACP)},
		{"gate", gateLines(c.Gate)},
		{"mcp", mcpLines(c.MCP)},
		{"providers: key_env: " + noKey, keylessLines(c.Providers)},
	} {
		if len(k.lines) > 0 {
			top, _, _ := strings.Cut(k.key, ":")
			return Config{}, &ownError{file, own, frontmatter.KeyLine(data, top), k.key, k.lines}
		}
	}
	return c, nil
}

func mcpLines(m MCP) []string {
	if !m.CallerCriteria {
		return nil
	}
	return []string{"mcp:", "  caller_criteria: true"}
}

// loginLines are the seats that are to be played with a login, as they stand in
// a person's own file.
func loginLines(agents map[string]Agent) []string {
	var lines []string
	for _, role := range slices.Sorted(maps.Keys(agents)) {
		a := agents[role]
		if !a.Login {
			continue
		}
		line := "  " + scalar(role) + ": {agent: " + scalar(a.Agent)
		if a.Model != "" {
			line += ", model: " + scalar(a.Model)
		}
		lines = append(lines, line+", login: true}")
	}
	return underKey("agents", lines)
}

// absolute makes paths whole: in the person's own file they stand for
// themselves, wherever a command is given.
func absolute(paths map[string]string, dir string) map[string]string {
	out := map[string]string{}
	for name, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, filepath.FromSlash(p))
		}
		out[name] = p
	}
	return out
}

// mostLines is how many entries are shown to be moved; nobody has more.
const mostLines = 20

func mapLines(key string, m map[string]string) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, "  "+scalar(name)+": "+scalar(m[name]))
	}
	return underKey(key, lines)
}

func valueLine(key, v string) []string {
	if v == "" {
		return nil
	}
	return []string{key + ": " + scalar(v)}
}

func listLines(key string, list []string) []string {
	var lines []string
	for _, v := range list {
		lines = append(lines, "  - "+scalar(v))
	}
	return underKey(key, lines)
}

func acpLines(m map[string]ACPProgram) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, "  "+scalar(name)+":")
		for _, l := range append(listLines("args", m[name].Args), mapLines("env", m[name].Env)...) {
			lines = append(lines, "    "+l)
		}
	}
	return underKey("acp", lines)
}

func gateLines(g Gate) []string {
	var lines []string
	for _, l := range [][]string{
		valueLine("before_done", g.BeforeDone), valueLine("base", g.Base), valueLine("sign", g.Sign),
	} {
		for _, line := range l {
			lines = append(lines, "  "+line)
		}
	}
	return underKey("gate", lines)
}

func underKey(key string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	if n := len(lines) - mostLines; n > 0 {
		lines = append(lines[:mostLines:mostLines], fmt.Sprintf("  # and %d more", n))
	}
	return append([]string{key + ":"}, lines...)
}

var plainScalar = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9/._-]*$`)

// scalar writes a value as YAML; what is not plain is quoted, so that nothing in
// it is taken for something else, by YAML or by a terminal.
func scalar(v string) string {
	if plainScalar.MatchString(v) {
		return v
	}
	return strconv.QuoteToASCII(v)
}
