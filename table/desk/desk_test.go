package desk

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

var kinds = map[string]Seats{"player": Player, "gm": GM, "watcher": Watcher}

// TestCommands: the table has no command twice in one place, and every one of them
// is in the help of the seats and questions that have it, and in no other.
func TestCommands(t *testing.T) {
	tried := 0
	for who, seats := range kinds {
		for _, at := range []At{Asked, Free} {
			help := Help(seats, at)
			seen := map[string]bool{}
			for _, c := range For(seats, at) {
				tried++
				if seen[c.Name] {
					t.Errorf("%s has /%s twice", who, c.Name)
				}
				seen[c.Name] = true
				if !strings.Contains(help, "  "+c.Usage()) || !strings.Contains(help, c.Help) {
					t.Errorf("%s: help does not tell /%s:\n%s", who, c.Name, help)
				}
				found, err := Find(c.Name, "x", seats, at)
				if err != nil || found != c {
					t.Errorf("%s: /%s is %+v, %v", who, c.Name, found, err)
				}
				_, err = Find(c.Name, "", seats, at)
				if (err != nil) != c.Needs {
					t.Errorf("%s: /%s with nothing behind it: %v", who, c.Name, err)
				}
			}
			for _, c := range Commands {
				if _, err := Find(c.Name, "x", seats, at); (err == nil) != seen[c.Name] {
					t.Errorf("%s: /%s: %v, in the table: %v", who, c.Name, err, seen[c.Name])
				}
			}
			for _, always := range []string{"help", "who", "recap", "quit"} {
				if !seen[always] {
					t.Errorf("%s has no /%s", who, always)
				}
			}
			if _, err := Find("hlep", "", seats, at); err == nil || !strings.Contains(err.Error(), "Did you mean /help?") {
				t.Errorf("%s: /hlep: %v", who, err)
			}
		}
	}
	if tried < 50 {
		t.Fatalf("only %d commands were tried", tried)
	}
}

// TestNoLineOverTheEdge: help fits a terminal of eighty columns, as far as it is
// not prose, which is broken between words.
func TestNoLineOverTheEdge(t *testing.T) {
	for who, seats := range kinds {
		for line := range strings.Lines(Help(seats, Asked) + "\n" + Help(seats, Free)) {
			if strings.HasPrefix(line, "  ") && len([]rune(line)) > 79 {
				t.Errorf("%s: %q", who, line)
			}
		}
	}
}

// TestSplit: what begins with a slash is never speech; what begins with two is.
func TestSplit(t *testing.T) {
	for _, x := range []struct {
		typed, calls, words, fault string
	}{
		{"I go in.", "", "I go in.", ""},
		{"I go in.\nSlowly.\n[NOTES]\nI am afraid.", "", "I go in.\nSlowly.\n[NOTES]\nI am afraid.", ""},
		{"//help me", "", "/help me", ""},
		{"I say:\n//x", "", "I say:\n/x", ""},
		{"/help", "help", "", ""},
		{"  /roll 1d20 ", "roll 1d20", "", ""},
		{"/roll 1d20\n/who\nI swing.", "roll 1d20,who", "I swing.", ""},
		{"/veto She is\nmy sister.", "veto She is\nmy sister.", "", ""},
		{"/veto", "", "", "needs something behind it"},
		{"/rol 1d20", "", "", "Did you mean /roll?"},
		{"I go in.\n/roll 1d20", "", "", "line 2:"},
		{"/away", "", "", "between questions"},
		{"/ask bram: x", "", "", "/ask is nothing here"},
	} {
		calls, words, err := Split(x.typed, Player, Asked)
		var got []string
		for _, c := range calls {
			got = append(got, strings.TrimSpace(c.Name+" "+c.Rest))
		}
		if x.fault != "" {
			f := (*Fault)(nil)
			if !errors.As(err, &f) || !strings.Contains(err.Error(), x.fault) || words != "" || calls != nil {
				t.Errorf("%q: %q, %q, %v", x.typed, got, words, err)
			}
			continue
		}
		if err != nil || strings.Join(got, ",") != x.calls || words != x.words {
			t.Errorf("%q: %q, %q, %v", x.typed, got, words, err)
		}
	}
}

// TestPointed: a fault shows the line and points at the word.
func TestPointed(t *testing.T) {
	f := &Fault{Line: 3, Text: "/aks bram: Now?", Err: unknown("aks", GM, Asked)}
	lines := strings.Split(f.Pointed(), "\n")
	if !strings.HasPrefix(lines[0], "Line 3 cannot be taken: /aks is nothing here. Did you mean /ask?") ||
		!slices.Equal(lines[len(lines)-2:], []string{"  /aks bram: Now?", "  ^^^^"}) {
		t.Errorf("%q", lines)
	}
	f = &Fault{Line: 1, Text: "/ask Brm: Now?", Err: errors.New(`"brm" is no character here`)}
	if !strings.HasSuffix(f.Pointed(), "  /ask Brm: Now?\n       ^^^") {
		t.Errorf("%s", f.Pointed())
	}
}
