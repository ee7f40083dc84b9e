package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"conclave/app"
	"conclave/internal/screen"
	"conclave/terminal"
)

// shapeOf is a type as docs/json.md names it.
func shapeOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[iter.Seq2[app.Entry, error]]():
		return "log records, one a line"
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()), t.Kind() == reflect.String:
		return "string"
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "list of " + shapeOf(t.Elem())
	case reflect.Map:
		return "map of " + shapeOf(t.Elem())
	case reflect.Struct:
		return "`" + t.String() + "`"
	case reflect.Bool:
		return "boolean"
	case reflect.Interface:
		return "any"
	}
	return "number"
}

// fieldsOf are the members of a struct as JSON has them, by name, in order. One
// that may be left out has a question mark.
func fieldsOf(t reflect.Type) (names []string, types map[string]string, inner []reflect.Type) {
	types = map[string]string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, more, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			n, ty, in := fieldsOf(f.Type)
			names, inner = append(names, n...), append(inner, in...)
			maps.Copy(types, ty)
			continue
		case name == "":
			name = f.Name
		}
		names = append(names, name)
		types[name] = shapeOf(f.Type)
		if strings.HasPrefix(more, "omit") {
			types[name] += "?"
		}
		inner = append(inner, f.Type)
	}
	return names, types, inner
}

// structsIn collects the structs that a type is made of.
func structsIn(t reflect.Type, into map[string]reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		structsIn(t.Elem(), into)
	case reflect.Struct:
		if shapeOf(t) != "`"+t.String()+"`" || into[t.String()] == t {
			return
		}
		into[t.String()] = t
		_, _, inner := fieldsOf(t)
		for _, i := range inner {
			structsIn(i, into)
		}
	}
}

// answersOf are the commands with --json, with what they print.
func answersOf(t *testing.T) map[string]reflect.Type {
	t.Helper()
	none := screen.New(os.Stderr, screen.Options{})
	env := &environment{Terminal: terminal.Terminal{Stdout: none, Stderr: none}, Getenv: os.Getenv}
	answers := map[string]reflect.Type{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if cmd.Flag("json") == nil {
			return
		}
		if env.answers[cmd] == nil {
			t.Errorf("%s has --json and does not say what it prints: use addJSON", cmd.CommandPath())
			return
		}
		answers[cmd.CommandPath()] = env.answers[cmd]
	}
	walk(newRootCommand(env))
	if len(answers) < 40 {
		t.Fatalf("only %d commands with --json were found", len(answers))
	}
	return answers
}

var (
	commandRow = regexp.MustCompile("^\\| `(conclave [^`]+)` \\| ([^|]+) \\| ([^|]*) \\|$")
	fieldRow   = regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]+) \\|(.*)\\|$")
	example    = regexp.MustCompile("(?s)\\n`(conclave [^`]*?) --json[^`]*`\\n\\n```json\\n(.*?)\\n```\\n")
)

// TestJSONIsDocumented (Q11) holds docs/json.md against the program: every
// command with --json, every field of what it prints, with its type; and the
// examples are of those shapes.
func TestJSONIsDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	page, answers := string(data), answersOf(t)
	commands := map[string]string{}
	for line := range strings.SplitSeq(page, "\n") {
		if m := commandRow.FindStringSubmatch(line); m != nil {
			commands[m[1]] = m[2]
		}
	}
	shapes := map[string]reflect.Type{}
	for name, typ := range answers {
		structsIn(typ, shapes)
		if want := shapeOf(typ); commands[name] != want {
			t.Errorf("%s prints %s; docs/json.md says %q", name, want, commands[name])
		}
		delete(commands, name)
	}
	for name := range commands {
		t.Errorf("docs/json.md: %s has no --json", name)
	}
	checkShapes(t, page, shapes)
	checkExamples(t, page, answers)
}

func checkShapes(t *testing.T, page string, shapes map[string]reflect.Type) {
	t.Helper()
	described := map[string]string{}
	for i, part := range strings.Split(page, "\n### `") {
		name, body, ok := strings.Cut(part, "`\n")
		if i > 0 && ok {
			body, _, _ = strings.Cut(body, "\n## ")
			described[name] = body
		}
	}
	for name, typ := range shapes {
		body, ok := described[name]
		delete(described, name)
		if !ok {
			t.Errorf("docs/json.md does not describe `%s`", name)
			continue
		}
		names, types, _ := fieldsOf(typ)
		var rows []string
		for line := range strings.SplitSeq(body, "\n") {
			if m := fieldRow.FindStringSubmatch(line); m != nil {
				rows = append(rows, m[1])
				if strings.TrimSpace(m[3]) == "" {
					t.Errorf("docs/json.md does not say what %s of `%s` means", m[1], name)
				}
				if want := types[m[1]]; want != m[2] {
					t.Errorf("docs/json.md: %s of `%s` is %q, not %q", m[1], name, want, m[2])
				}
			}
		}
		if !slices.Equal(rows, names) {
			t.Errorf("docs/json.md: `%s` has the fields\n%q\nand not\n%q", name, names, rows)
		}
	}
	for name := range described {
		t.Errorf("docs/json.md describes `%s`, which no command prints", name)
	}
}

func checkExamples(t *testing.T, page string, answers map[string]reflect.Type) {
	t.Helper()
	shown := map[reflect.Type]bool{}
	for _, m := range example.FindAllStringSubmatch(page, -1) {
		words := strings.Fields(m[1])
		var typ reflect.Type
		for n := len(words); n > 1 && typ == nil; n-- {
			typ = answers[strings.Join(words[:n], " ")]
		}
		if typ == nil {
			t.Errorf("docs/json.md: the example %s is of no command", m[1])
			continue
		}
		shown[typ] = true
		d := json.NewDecoder(strings.NewReader(m[2]))
		d.DisallowUnknownFields()
		if err := d.Decode(reflect.New(typ).Interface()); err != nil {
			t.Errorf("docs/json.md: the example of %s: %v", m[1], err)
		}
	}
	for name, typ := range answers {
		if !shown[typ] && shapeOf(typ) != "log records, one a line" {
			t.Errorf("docs/json.md has no example of what %s prints (%s)", name, fmt.Sprint(typ))
		}
	}
}
