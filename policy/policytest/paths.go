// Package policytest holds a list of names that a project may hold and what
// each of them is, for tests that hold policy, and what enforces it, against
// it. A third and more of the names are innocent look-alikes.
package policytest

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"conclave/policy"
)

//go:embed testdata/paths.tsv
var list string

// Path is a file of a project.
type Path struct {
	Kind    policy.Kind
	Path    string
	Content string
}

// Paths are all of them. A list that cannot be read is a panic.
func Paths() []Path {
	var out []Path
	for line := range strings.Lines(list) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 || !policy.Kind(fields[0]).Known() {
			panic(fmt.Sprintf("paths.tsv: %q", line))
		}
		out = append(out, Path{policy.Kind(fields[0]), text(fields[1]), strings.ReplaceAll(text(fields[2]), "|", "\n")})
	}
	return out
}

func text(field string) string {
	if s, err := strconv.Unquote(field); err == nil && field[0] == '"' {
		return s
	}
	return field
}
