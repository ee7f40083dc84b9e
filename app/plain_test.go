package app

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/engine"
	"conclave/internal/screen"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
)

// TestEveryEventHasAForm: a face elsewhere gets every event, named in lower case,
// without the sequences of a terminal.
func TestEveryEventHasAForm(t *testing.T) {
	text := screen.Sprintf("a %s\n%s", screen.Bold("b"), "\x1b[7mc")
	samples := []Event{
		Warning{text}, Aside{text}, Note{text}, Remark{screen.Prose("  ", text)},
		Speech{"🐱", "Cat", Paused, "<b>words</b>"}, Outcome{flow.Result{Flow: "council", Said: []string{"x"}}},
		Offers{[]quest.Offer{{Label: "go on"}}}, Progress{"work", 3, 1 << 40}, Passage{"narrative", "a line"}, ClearScreen{},
		Standing{Quest: &quest.Quest{Title: "A pier"}, Log: []string{"one"}},
		Cast{[]profile.Face{profile.NewFace(profile.Archetype{ID: "cat", Title: "Cat"}, nil)}},
		Following{[]string{"/a"}}, Collecting{}, RoomView{Role: "cat"}, Audited{[]*AuditReport{{}}},
		Faults{{}},
	}
	tried := map[string]bool{}
	upper := regexp.MustCompile(`"[A-Z][A-Za-z]*":`)
	for _, e := range samples {
		name, data, err := EventData(e)
		if err != nil || name != reflect.TypeOf(e).Name() {
			t.Errorf("%T: %s, %v", e, name, err)
		}
		tried[name] = true
		if found := upper.FindAllString(string(data), -1); len(found) > 0 {
			t.Errorf("%s: %v in %s", name, found, data)
		}
		if strings.Contains(string(data), `\u001b`) || !strings.HasPrefix(string(data), "{") {
			t.Errorf("%s: %s", name, data)
		}
	}
	for _, name := range eventTypes(t) {
		if !tried[name] {
			t.Errorf("%s: no form of it was tried", name)
		}
	}
	if _, data, _ := EventData(Speech{"🐱", "Cat", Paused, "x"}); string(data) != `{"emoji":"🐱","name":"Cat","part":"paused","text":"x"}` {
		t.Errorf("a speech is %s", data)
	}
}

func TestQuestionAsData(t *testing.T) {
	q := Question{Way: YesNo, Question: engine.Question{Text: "so?", Default: "y", Options: []engine.Option{{Label: "y"}}}}
	data, err := json.Marshal(q)
	want := `{"way":"yesno","text":"so?","options":[{"label":"y"}],"default":"y"}`
	if err != nil || string(data) != want {
		t.Errorf("a question is %s, %v", data, err)
	}
	fields := reflect.TypeFor[engine.Question]()
	var told map[string]any
	full := Question{Question: engine.Question{Who: "w", Text: "t", Default: "d", Silent: true, Secret: true, Lines: true,
		Title: "t", Lead: "l", Hint: "h", Alone: []string{"a"}, Live: true, Again: true}}
	if data, err = json.Marshal(full); err != nil || json.Unmarshal(data, &told) != nil {
		t.Fatal(err)
	}
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; told[strings.ToLower(name)] == nil && name != "ID" {
			t.Errorf("%s of a question is not told", name)
		}
	}
}

// checkByHand: no verb that is called by name takes what gives trust or a key, or
// names where to write; each of these members is one of some verb.
func checkByHand(t *testing.T, a *App) {
	t.Helper()
	of := map[string][]string{}
	for _, verb := range byName {
		m, _ := reflect.TypeFor[*App]().MethodByName(verb)
		for i := 1; i < m.Type.NumIn(); i++ {
			in := m.Type.In(i)
			for _, name := range byHand {
				if in.Kind() != reflect.Struct {
					continue
				}
				f, ok := in.FieldByName(name)
				if !ok {
					continue
				}
				of[name] = append(of[name], verb)
				set := map[string]any{"string": "/x", "bool": true, "[]string": []string{".env"}}[f.Type.String()]
				args := make([]json.RawMessage, 0, m.Type.NumIn())
				for j := 1; j < m.Type.NumIn(); j++ {
					given := reflect.Zero(m.Type.In(j)).Interface()
					if j == i {
						given = map[string]any{name: set}
					}
					if data, err := json.Marshal(given); err == nil && m.Type.In(j).String() != "context.Context" {
						args = append(args, data)
					}
				}
				if err := a.CheckCall(verb, args); KindOf(err) != Usage || !strings.Contains(err.Error(), "command line") {
					t.Errorf("%s with %s: %v", verb, name, err)
				}
			}
		}
	}
	for _, name := range byHand {
		if len(of[name]) == 0 {
			t.Errorf("no verb has a member %s", name)
		}
	}
}

// TestCallByName: what is called by name is there, takes plain data, and is on the
// list; nothing else is called.
func TestCallByName(t *testing.T) {
	a := &App{Dir: t.TempDir(), Getenv: func(string) string { return "" }}
	for _, verb := range byName {
		m, ok := reflect.TypeFor[*App]().MethodByName(verb)
		if !ok {
			t.Errorf("there is no %s", verb)
			continue
		}
		var args []json.RawMessage
		for i := 1; i < m.Type.NumIn(); i++ {
			if in := m.Type.In(i); in.String() != "context.Context" {
				zero, err := json.Marshal(reflect.Zero(in).Interface())
				if err != nil || in.Kind() == reflect.Interface || in.Kind() == reflect.Func {
					t.Errorf("%s takes %v: %v", verb, in, err)
				}
				args = append(args, zero)
			}
		}
		if err := a.CheckCall(verb, args); err != nil {
			t.Errorf("%s(%s): %v", verb, args, err)
		}
		if err := a.CheckCall(verb, append(args, []byte("1"))); KindOf(err) != Usage {
			t.Errorf("%s with one too many: %v", verb, err)
		}
	}
	checkByHand(t, a)
	for _, verb := range []string{"RunInRoom", "Demo", "InstallPlugin", "NoteHook", "Call", "PageLink", "Trust", "show", "X", ""} {
		if _, err := a.Call(t.Context(), verb, nil); KindOf(err) != Usage || slices.Contains(byName, verb) {
			t.Errorf("%s was called: %v", verb, err)
		}
	}
	for _, args := range []string{`{"Unknown":1}`, `{"who":3}`, `[]`, `{"who":"cat"`} {
		if _, err := a.Call(t.Context(), "Consult", []json.RawMessage{[]byte(args)}); KindOf(err) != Usage {
			t.Errorf("Consult(%s): %v", args, err)
		}
	}
}
