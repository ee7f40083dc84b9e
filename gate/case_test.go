package gate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func someCase() Case {
	files := []File{{Path: "a.go", Size: 3, SHA256: "aa"}, {Path: "b/c.go", Size: 4, SHA256: "bb", Executable: true}}
	return Case{
		Role: "dragon", Rule: All, N: 3, Expect: "ready",
		Criteria: Criteria{Origin: Committed, File: "criteria.md", Commit: "c0ffee", SHA256: "cc", Text: "1. It runs.\n",
			List: []Criterion{{Number: 1, Text: "It runs.", Check: "make"}}},
		Work: Work{Names: []string{"."}, Base: "b", Head: "h", Diff: &File{Path: "work.diff", Size: 9, SHA256: "dd"}, Files: files},
	}
}

// unsummed are the fields that say where something came from, or follow from
// others: two cases that differ in these alone are one.
var unsummed = []string{"Digest", "Criteria.Origin", "Criteria.File", "Criteria.Commit", "Criteria.SHA256",
	"Work.Names", "Work.Base", "Work.Head", "Work.LeftOut", "Work.Digest"}

// Every field of a case is in its digest, or in the list of those that are not.
func TestEveryFieldIsDigested(t *testing.T) {
	seen := map[string]bool{}
	visit(t, reflect.TypeFor[Case](), "", func(path string, alter func(*Case)) {
		seen[path] = true
		c := someCase()
		before := c.Sum()
		alter(&c)
		if digested := c.Sum() != before; digested == slices.Contains(unsummed, path) {
			t.Errorf("%s: digested %v", path, digested)
		}
	})
	for _, path := range append(unsummed, "Role", "N", "Work.Files.Executable", "Work.Diff.SHA256", "Criteria.List.Check") {
		if !seen[path] {
			t.Errorf("%s was not tried", path)
		}
	}
}

// visit finds the fields by reflection, so that a new one is tried too.
func visit(t *testing.T, typ reflect.Type, path string, yield func(string, func(*Case))) {
	t.Helper()
	var walk func(typ reflect.Type, path string, at func(reflect.Value) reflect.Value)
	walk = func(typ reflect.Type, path string, at func(reflect.Value) reflect.Value) {
		if path == "Work.LeftOut" {
			yield(path, func(c *Case) { c.Work.LeftOut = []LeftOut{{Path: "x"}} })
			return
		}
		switch typ.Kind() {
		case reflect.Struct:
			for i := range typ.NumField() {
				f := typ.Field(i)
				name := f.Name
				if path != "" {
					name = path + "." + name
				}
				walk(f.Type, name, func(v reflect.Value) reflect.Value { return at(v).Field(i) })
			}
		case reflect.Slice:
			walk(typ.Elem(), path, func(v reflect.Value) reflect.Value { return at(v).Index(0) })
		case reflect.Pointer:
			walk(typ.Elem(), path, func(v reflect.Value) reflect.Value { return at(v).Elem() })
		default:
			yield(path, func(c *Case) { alter(t, at(reflect.ValueOf(c).Elem())) })
		}
	}
	walk(typ, path, func(v reflect.Value) reflect.Value { return v })
}

func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 2)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		t.Fatalf("nobody knows how to change a %s", v.Kind())
	}
}

// A case with a change is none without, and files have no order.
func TestDigestOfWork(t *testing.T) {
	c := someCase()
	before := c.Sum()
	slices.Reverse(c.Work.Files)
	if c.Sum() != before {
		t.Error("the order of the files counts")
	}
	c.Work.Diff = nil
	if c.Sum() == before {
		t.Error("the change does not count")
	}
	c = someCase()
	c.Work.Files = c.Work.Files[:1]
	if c.Sum() == before {
		t.Error("a file less does not count")
	}
}

// A known digest: another way to make it would make every old receipt false.
func TestDigestIsStable(t *testing.T) {
	const want = "85be176df365d38f8476de051641f31a37fb42bb9ac50960ad65d600a31baac4"
	if got := someCase().Sum(); got != want {
		t.Errorf("it is %s", got)
	}
}

// Two cases have one digest only if the judges would see no difference.
func TestDigestIsInjective(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", "aa", "b", "1", "\x00", "a\x00", "ab"})
	file := rapid.Custom(func(t *rapid.T) File {
		return File{Path: text.Draw(t, "path"), Size: rapid.Int64Range(0, 12).Draw(t, "size"), SHA256: text.Draw(t, "sum"),
			Executable: rapid.Bool().Draw(t, "x")}
	})
	one := rapid.Custom(func(t *rapid.T) Case {
		c := Case{Role: text.Draw(t, "role"), Rule: text.Draw(t, "rule"), N: rapid.IntRange(0, 12).Draw(t, "n"), Expect: text.Draw(t, "expect")}
		c.Criteria.Text = text.Draw(t, "criteria")
		for range rapid.IntRange(0, 2).Draw(t, "list") {
			c.Criteria.List = append(c.Criteria.List, Criterion{Number: rapid.IntRange(0, 11).Draw(t, "number"),
				Text: text.Draw(t, "text"), Check: text.Draw(t, "check")})
		}
		c.Work.Files = rapid.SliceOfNDistinct(file, 0, 3, func(f File) string { return f.Path }).Draw(t, "files")
		if rapid.Bool().Draw(t, "diff") {
			f := file.Draw(t, "change")
			c.Work.Diff = &f
		}
		return c
	})
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		c := one.Draw(t, "case")
		slices.SortFunc(c.Work.Files, func(a, b File) int { return len(fmt.Sprint(a)) - len(fmt.Sprint(b)) })
		sum := c.Sum()
		slices.SortFunc(c.Work.Files, func(a, b File) int {
			if a.Path < b.Path {
				return -1
			}
			return 1
		})
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if old, there := seen[sum]; there && old != string(b) {
			t.Fatalf("%s and %s have one digest", old, b)
		}
		seen[sum] = string(b)
	})
}
