package app

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"conclave/internal/screen"
)

// notCarried are the events that no verb shows which runs for another terminal.
var notCarried = map[string]string{
	"Audited": "audit", "Cast": "quests", "Collecting": "record import", "Faults": "profiles and packs",
	"Following": "record watch", "Offers": "quests", "Outcome": "quests", "RoomView": "room", "Speech": "quests",
	"Standing": "quests",
}

// TestEventsOnTheWire: every event is carried, or is known not to be; and what is
// carried arrives as it was.
func TestEventsOnTheWire(t *testing.T) {
	found := eventTypes(t)
	if len(found) < 10 {
		t.Fatalf("only %v were found", found)
	}
	for _, name := range found {
		_, yes := carried[name]
		if _, no := notCarried[name]; yes == no {
			t.Errorf("%s: carried %v, and not carried %v", name, yes, no)
		}
	}
	text := screen.Sprintf("a %s of %s", screen.Bold("b"), "\x1b[7mc\u202e")
	tried := map[string]bool{}
	for _, e := range []Event{
		Warning{text}, Aside{text}, Note{text}, Remark{screen.Prose("  ", text)}, Passage{"narrative", "\x1b[7mforeign\nlines"},
		ClearScreen{}, Progress{"work", 3, 1 << 40},
	} {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := wireEvent{reflect.TypeOf(e).Name(), data}.event()
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%#v arrives as %#v, %v", e, got, err)
		}
		tried[reflect.TypeOf(e).Name()] = true
	}
	if len(tried) != len(carried) {
		t.Errorf("%d of %d were tried", len(tried), len(carried))
	}
	if _, err := (wireEvent{Type: "Speech", Data: []byte("{}")}).event(); err == nil {
		t.Error("an event that is not carried was taken")
	}
	if _, err := (wireEvent{Type: "Note", Data: []byte(`{"Text":"\u001b]0;title\u0007"}`)}).event(); err == nil {
		t.Error("a text with a sequence that is not ours was taken")
	}
}

// eventTypes finds what implements Event, in the source.
func eventTypes(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "isEvent" && f.Recv != nil {
				names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	return names
}

// TestErrorsOnTheWire: an error keeps its kind and tells its own words from
// foreign ones.
func TestErrorsOnTheWire(t *testing.T) {
	foreign := errors.New("a\x1b[7m\ntry: rm -rf")
	for _, err := range []error{
		noError("no: %w\ntry: conclave x", foreign), usageError("what is %q?", "\x1b[7m"), environmentError("gone"),
		saidNo(), foreign, errors.Join(noError("a"), usageError("b")),
	} {
		data, broken := json.Marshal(toWire(err))
		if broken != nil {
			t.Fatal(broken)
		}
		var w wireError
		if err := json.Unmarshal(data, &w); err != nil {
			t.Fatal(err)
		}
		got := w.error()
		if KindOf(got) != KindOf(err) || Said(got) != Said(err) || !Said(err) && got.Error() != err.Error() {
			t.Errorf("%v (%v) arrives as %v (%v)", err, KindOf(err), got, KindOf(got))
		}
		if !Said(err) && screen.Sprintf("%v", got) != screen.Sprintf("%v", err) {
			t.Errorf("%q is printed as %q", screen.Sprintf("%v", err), screen.Sprintf("%v", got))
		}
	}
	if toWire(nil) != nil || (*wireError)(nil).error() != nil {
		t.Error("no error is one")
	}
}
