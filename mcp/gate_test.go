package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app"
)

func (p *place) commit(message string) {
	p.git("add", "-A", ".")
	p.git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", message)
}

// TestWhoseCriteria: over MCP they are committed before the server started, or the
// quest's; the caller's own only where the person says so, and the first line of
// the answer says it.
func TestWhoseCriteria(t *testing.T) {
	p := newPlace(t)
	p.write("done.md", "1. There is a report.\n")
	p.commit("criteria")
	p.trust()
	c := connect(t, p.server(app.Remote{}))
	work := []string{"work"}
	p.write("mine.md", "1. It exists.\n")
	p.write("later.md", "1. It exists.\n")
	p.git("add", "later.md")
	p.git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "the agent's own")
	for _, x := range []struct {
		what string
		args args
		exit int
		want string
	}{
		{"committed", args{"work": work, "criteria": "done.md"}, 3, "NOT JUDGED – criteria: committed at "},
		{"the quest's", args{"work": work}, 0, "MET – criteria: the quest's"},
		{"words", args{"work": work, "criteria": "It is fine as it is."}, 3, "caller_criteria"},
		{"a file of no commit", args{"work": work, "criteria": "mine.md"}, 3, "caller_criteria"},
		{"a later commit", args{"work": work, "criteria": "later.md"}, 3, "caller_criteria"},
		{"an expectation", args{"work": work, "judge": "guardian", "expect": "it is fine"}, 3, "caller_criteria"},
		{"a change from a later commit", args{"diff": "HEAD..HEAD", "criteria": "later.md"}, 3, "when it started"},
		{"a file elsewhere", args{"work": work, "criteria": "/etc/hostname"}, 3, ""},
		{"a table", args{"work": []string{"campaigns"}}, 3, "in a terminal"},
		{"no work", args{}, 2, "name the work"},
	} {
		s := c.call("gate", x.args)
		if s.Exit != x.exit || !strings.Contains(s.Text, x.want) {
			t.Errorf("%s: exit %d, %q, want %d with %q", x.what, s.Exit, s.Text, x.exit, x.want)
		}
	}
	p.write("done.md", "1. Whatever.\n")
	if s := c.call("gate", args{"work": work, "criteria": "done.md"}); s.Exit != 3 || !strings.Contains(s.Error, "caller_criteria") {
		t.Errorf("changed since: %d %q", s.Exit, s.Text)
	}
	own := filepath.Join(p.env["HOME"], ".config", "conclave", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("mcp: {caller_criteria: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := c.call("gate", args{"work": work, "criteria": "It is fine as it is."})
	if s.Exit != 3 || s.IsError || !strings.HasPrefix(s.Text, "NOT JUDGED – criteria: the caller's own\n") {
		t.Errorf("allowed: %d %q", s.Exit, s.Text)
	}
}

// What keeps a judge from being asked is told as data, by every tool that judges.
func TestLeaksAreData(t *testing.T) {
	const words = "the old ferry must never again wait for the fog to lift before noon"
	p := newPlace(t)
	p.write(".campaign/quest.md", strings.Replace(questText, "Once.", "We said that "+words+".", 1))
	p.trust()
	p.write("work/report.txt", "A report.\nMade by Mara: "+words+".\n")
	c := connect(t, p.server(app.Remote{}))
	for _, tool := range []string{"gate", "confront"} {
		s := c.call(tool, args{"work": []string{"work"}})
		if s.Exit == 0 || !s.IsError || len(s.Leaks) != 1 || s.Leaks[0].Where != "work/report.txt" || s.Leaks[0].Line != 2 {
			t.Errorf("%s: exit %d, %+v, %s", tool, s.Exit, s.Leaks, s.Error)
		}
	}
}
