package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"conclave/engine"
	"conclave/engine/enginetest"
)

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func get(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return "absent"
	}
	return string(data)
}

// commit runs one interaction that commits changes; between is called when the
// intents are recorded and nothing is done yet.
func commit(t *testing.T, dir string, changes []engine.Change, between func()) error {
	t.Helper()
	e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{
		simple("c", 1, func(r *engine.Run) (any, error) { return nil, engine.Commit(r, "c", changes) })},
		CrashPoint: func(label string) {
			if label == "recorded intend c" && between != nil {
				between()
			}
		}})
	defer mustClose(t, e)
	_, err := e.Start(t.Context(), "c", "x", nil)
	return err
}

func TestChanges(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 20_000)
	text := func(s string) []byte { return []byte(s) }
	for name, c := range map[string]struct {
		changes []engine.Change
		want    map[string]string
	}{
		"write new":      {[]engine.Change{{Op: engine.Write, Path: "d/e/f.md", Data: text("x")}}, map[string]string{"d/e/f.md": "x"}},
		"write over":     {[]engine.Change{{Op: engine.Write, Path: "a.md", Data: text("x")}}, map[string]string{"a.md": "x"}},
		"write as it is": {[]engine.Change{{Op: engine.Write, Path: "a.md", Data: text("a\n")}}, map[string]string{"a.md": "a\n"}},
		"planned on":     {[]engine.Change{{Op: engine.Write, Path: "a.md", Data: text("x"), Before: engine.Digest(text("a\n"))}}, map[string]string{"a.md": "x"}},
		"create":         {[]engine.Change{{Op: engine.Create, Path: "n.md", Data: text("n")}}, map[string]string{"n.md": "n"}},
		"append":         {[]engine.Change{{Op: engine.Append, Path: "a.md", Data: text("b\n")}}, map[string]string{"a.md": "a\nb\n"}},
		"append to none": {[]engine.Change{{Op: engine.Append, Path: "n.md", Data: text("b\n")}}, map[string]string{"n.md": "b\n"}},
		"append to long": {[]engine.Change{{Op: engine.Append, Path: "long", Data: text("b\n")}}, map[string]string{"long": long + "b\n"}},
		"delete":         {[]engine.Change{{Op: engine.Delete, Path: "a.md"}}, map[string]string{"a.md": "absent"}},
		"delete nothing": {[]engine.Change{{Op: engine.Delete, Path: "no/n.md"}}, map[string]string{"no/n.md": "absent"}},
		"rename":         {[]engine.Change{{Op: engine.Rename, Path: "a.md", To: "z/a.md"}}, map[string]string{"a.md": "absent", "z/a.md": "a\n"}},
		"one after another": {[]engine.Change{
			{Op: engine.Write, Path: "a.md", Data: text("1")},
			{Op: engine.Append, Path: "a.md", Data: text("2")},
			{Op: engine.Append, Path: "a.md", Data: text("3")},
			{Op: engine.Rename, Path: "a.md", To: "b.md"},
			{Op: engine.Create, Path: "a.md", Data: text("4")},
			{Op: engine.Append, Path: "b.md", Data: text("5")},
		}, map[string]string{"a.md": "4", "b.md": "1235"}},
		"nothing": {nil, map[string]string{"a.md": "a\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := enginetest.Workspace(t, "test")
			put(t, dir, "a.md", "a\n")
			put(t, dir, "long", long)
			if err := commit(t, dir, c.changes, nil); err != nil {
				t.Fatal(err)
			}
			for name, want := range c.want {
				if got := get(dir, name); got != want {
					t.Errorf("%s is %.40q, want %.40q", name, got, want)
				}
			}
			if info, err := os.Stat(filepath.Join(dir, "a.md")); err == nil && name == "write over" && info.Mode().Perm() != 0o640 {
				t.Errorf("the mode became %v", info.Mode())
			}
		})
	}
}

func TestEditedFilesAreLeftAlone(t *testing.T) {
	text := func(s string) []byte { return []byte(s) }
	for name, c := range map[string]struct {
		change engine.Change
		edit   string // content that somebody puts at the path in between; "-" removes it
		path   string // that the error names
	}{
		"write":          {engine.Change{Op: engine.Write, Path: "a.md", Data: text("x")}, "edited", "a.md"},
		"write, gone":    {engine.Change{Op: engine.Write, Path: "a.md", Data: text("x")}, "-", "a.md"},
		"create":         {engine.Change{Op: engine.Create, Path: "n.md", Data: text("x")}, "edited", "n.md"},
		"append":         {engine.Change{Op: engine.Append, Path: "a.md", Data: text("x")}, "edited", "a.md"},
		"append, longer": {engine.Change{Op: engine.Append, Path: "a.md", Data: text("xyz")}, "a\nq", "a.md"},
		"append, cut":    {engine.Change{Op: engine.Append, Path: "a.md", Data: text("xyz")}, "a", "a.md"},
		"delete":         {engine.Change{Op: engine.Delete, Path: "a.md"}, "edited", "a.md"},
		"rename":         {engine.Change{Op: engine.Rename, Path: "a.md", To: "b.md"}, "edited", "a.md"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := enginetest.Workspace(t, "test")
			put(t, dir, "a.md", "a\n")
			second := engine.Change{Op: engine.Create, Path: "second.md", Data: text("2")}
			err := commit(t, dir, []engine.Change{c.change, second}, func() {
				if c.edit == "-" {
					os.Remove(filepath.Join(dir, c.change.Path))
					return
				}
				put(t, dir, c.change.Path, c.edit)
			})
			var edited *engine.EditedError
			if !errors.As(err, &edited) || edited.Path != c.path || edited.Op != c.change.Op {
				t.Fatalf("%v", err)
			}
			want := c.edit
			if c.edit == "-" {
				want = "absent"
			}
			if got := get(dir, c.change.Path); got != want {
				t.Errorf("%s became %q", c.change.Path, got)
			}
			if got := get(dir, "second.md"); got != "absent" {
				t.Errorf("the next change was done: %q", got)
			}
		})
	}
}

func TestPlannedOnSomethingElse(t *testing.T) {
	text := func(s string) []byte { return []byte(s) }
	for name, c := range map[string]engine.Change{
		"other content": {Op: engine.Write, Path: "a.md", Data: text("x"), Before: engine.Digest(text("b"))},
		"not absent":    {Op: engine.Write, Path: "a.md", Data: text("x"), Before: engine.Absent},
		"exists":        {Op: engine.Create, Path: "a.md", Data: text("x")},
		"no source":     {Op: engine.Rename, Path: "n.md", To: "m.md"},
		"target exists": {Op: engine.Rename, Path: "a.md", To: "b.md"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := enginetest.Workspace(t, "test")
			put(t, dir, "a.md", "a\n")
			put(t, dir, "b.md", "b\n")
			var edited *engine.EditedError
			if err := commit(t, dir, []engine.Change{{Op: engine.Write, Path: "first", Data: text("1")}, c}, nil); !errors.As(err, &edited) {
				t.Errorf("%v", err)
			}
			if get(dir, "first") != "absent" || get(dir, "a.md") != "a\n" || get(dir, "b.md") != "b\n" {
				t.Error("something was changed")
			}
		})
	}
}

func TestPathsStayInside(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "secret", "s")
	for name, path := range map[string]string{
		"dots": "../x", "rooted": "/etc/x", "dot": ".", "empty": "", "unclean": "a//b", "link": "link", "through": "linkdir/x",
	} {
		t.Run(name, func(t *testing.T) {
			dir := enginetest.Workspace(t, "test")
			for from, to := range map[string]string{"link": filepath.Join(outside, "secret"), "linkdir": outside} {
				if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
					t.Fatal(err)
				}
			}
			err := commit(t, dir, []engine.Change{{Op: engine.Write, Path: path, Data: []byte("x")}}, nil)
			var cut *engine.CutError
			if err == nil || errors.As(err, &cut) {
				t.Errorf("not refused for good: %v", err)
			}
			if get(outside, "secret") != "s" || get(outside, "x") != "absent" {
				t.Error("something outside was changed")
			}
		})
	}
}

// A batch does to the files what the same changes do to a map.
func TestBatchesProperty(t *testing.T) {
	dir := enginetest.Workspace(t, "test")
	names := []string{"p/a", "p/b", "q"}
	e := mustOpen(t, engine.Options{Dir: dir, Flows: []engine.Flow{
		{Name: "c", Version: 1, Run: commitInput}}})
	n := 0
	model := map[string]string{}
	rapid.Check(t, func(rt *rapid.T) {
		var changes []engine.Change
		next := map[string]string{}
		for k, v := range model {
			next[k] = v
		}
		ok := true
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			c := engine.Change{Path: rapid.SampledFrom(names).Draw(rt, "path"),
				Op:   rapid.SampledFrom([]engine.Op{engine.Write, engine.Create, engine.Append, engine.Delete, engine.Rename}).Draw(rt, "op"),
				Data: []byte(rapid.StringN(0, 4, 8).Draw(rt, "data"))}
			old, there := next[c.Path]
			switch c.Op {
			case engine.Write:
				next[c.Path] = string(c.Data)
			case engine.Create:
				ok = ok && !there
				next[c.Path] = string(c.Data)
			case engine.Append:
				next[c.Path] = old + string(c.Data)
			case engine.Delete:
				delete(next, c.Path)
			case engine.Rename:
				c.To, c.Data = rapid.SampledFrom(names).Draw(rt, "to"), nil
				_, taken := next[c.To]
				ok = ok && there && !taken
				delete(next, c.Path)
				next[c.To] = old
			}
			changes = append(changes, c)
		}
		n++
		_, err := e.Start(context.Background(), "c", strings.Repeat("i", n), changes)
		var edited *engine.EditedError
		if ok != (err == nil) || !ok && !errors.As(err, &edited) {
			rt.Fatalf("ok %v, %v", ok, err)
		}
		if ok {
			model = next
		}
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			want, there := model[name]
			if there != (err == nil) || !bytes.Equal(data, []byte(want)) {
				rt.Fatalf("%s: %q, %v; want %q, %v", name, data, err, want, there)
			}
		}
	})
}
