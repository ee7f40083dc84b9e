package judge

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/sample"
)

// question is one request that reaches for what a judge said in its room.
type question struct {
	method string
	params any
}

// questions asks every tool and resource that tells anything, in many words.
func (w *world) questions(records []string) []question {
	var list []question
	call := func(name string, a args) { list = append(list, question{"tools/call", tool(name, a)}) }
	read := func(uris ...string) {
		for _, uri := range uris {
			list = append(list, question{"resources/read", args{"uri": uri}})
		}
	}
	for _, q := range w.statements(records[0]) {
		call("query", args{"sql": q, "rows": 1000})
	}
	for _, words := range []string{roomWord, `"` + roomWord + ` begins"`, roomWord[:6] + "*", "looked", "begins",
		"begins OR dragon", "NEAR(" + roomWord + ")"} {
		call("search", args{"words": words, "context": 5})
		call("search", args{"words": words, "role": "dragon"})
	}
	for _, file := range records {
		id := strings.TrimSuffix(filepath.Base(file), ".record")
		call("audit", args{"run": id})
		for _, name := range []string{id, id[:10], "../records/" + id, file, "%2e%2e%2f" + id, id + ".record", id + "?x"} {
			read("conclave://run/" + name)
		}
		read("conclave://conversation/"+file, "conclave://conversation/../../.conclave/records/"+filepath.Base(file),
			"file://"+file, "conclave://quest/../../"+file)
	}
	read("conclave://conversation/" + filepath.Base(w.conversation()) + "/../x")
	call("audit", args{})
	for _, by := range []string{"session", "role", "run", "model"} {
		call("usage", args{"by": by})
	}
	call("quest_status", args{})
	call("quest_log", args{})
	call("table_status", args{"table": "../../.conclave"})
	for _, role := range []string{"dragon", "guardian", "gate", "../dragon"} {
		call("room_show", args{"role": role, "work": []string{"src", "."}})
	}
	return list
}

// statements are the ways of SQL.
func (w *world) statements(record string) []string {
	return []string{
		"SELECT * FROM transcript", "SELECT content FROM transcript WHERE role='dragon'", "SELECT * FROM logs",
		"SELECT * FROM sources", "SELECT * FROM tool_calls", "SELECT * FROM manifest", "SELECT * FROM usage",
		"SELECT * FROM sqlite_master", "SELECT * FROM pragma_database_list", "PRAGMA table_list",
		"ATTACH '" + w.home() + "/.local/share/conclave/archive.db' AS a", "SELECT load_extension('x')",
		"SELECT readfile('" + record + "')", "SELECT t.content FROM transcript t JOIN logs l",
		"WITH x AS (SELECT * FROM logs) SELECT * FROM x", "SELECT * FROM transcript; SELECT 1",
		"VACUUM INTO '" + w.elsewhere("x.db") + "'", "SELECT * FROM fts", "SELECT * FROM main.blocks",
		"SELECT fts5(1)", "SELECT writefile('" + w.elsewhere("y") + "','x')",
	}
}

// TestTheRoomStaysShut asks for what a judge said in its room, which the person
// finds, and gets an answer without it each time.
func TestTheRoomStaysShut(t *testing.T) {
	w := newWorld(t)
	for _, line := range [][]string{{"gate", "--criteria", "criteria.md", "--work", "src"}, {"confront", "src"}} {
		if out := w.run(line...); out.code != 1 {
			t.Fatalf("%q: exit %d: %s", line, out.code, out.all())
		}
	}
	if out := w.run("search", roomWord); out.code != 0 || !strings.Contains(out.stdout, roomWord) {
		t.Fatal("the judge's words are not there: this proves nothing")
	}
	records, err := filepath.Glob(w.path(".conclave/records/*.record"))
	must(t, err)
	c := w.serve()
	if line := c.call("search", args{"words": canary}); !strings.Contains(line, "ledger hides") {
		t.Fatalf("what the party said is not found: this proves nothing: %s", line)
	}
	list := w.questions(records)
	t.Logf("%d questions about %d records", len(list), len(records))
	for _, i := range sample.Pick(t, len(list), 10, 60) {
		q := list[i]
		before := c.heard.Len()
		if line := c.ask(q.method, q.params); line == "" {
			t.Fatalf("%v: the server has gone", q)
		}
		w.holdShut(t, fmt.Sprint(q), c.heard.String()[before:])
	}
	if more, err := filepath.Glob(w.elsewhere("*")); err != nil || len(more) != 1 {
		t.Errorf("something was written elsewhere: %q %v", more, err)
	}
}

// holdShut holds an answer against the judge's words. The question's own words may
// come back in it, and what follows them may not.
func (w *world) holdShut(t *testing.T, what, text string) {
	t.Helper()
	for _, word := range []string{roomWord + " begins.", roomWord + " has seen", outside, `"id":"verdict"`, "toolu_stub"} {
		if i := strings.Index(text, word); i >= 0 {
			t.Errorf("%s: the answer has %q: %q", what, word, text[max(0, i-200):min(len(text), i+200)])
		}
	}
}

// TestCalledOff: of two calls at once one is called off; the other, and the next,
// are answered, and the answers are the judge's.
func TestCalledOff(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"confront", "gate"} {
		t.Run(name, func(t *testing.T) {
			w.again(t)
			c := w.serve()
			a := tool(name, args{"work": []string{"src"}})
			one, two := c.send("tools/call", a), c.send("tools/call", a)
			c.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":%q}}`,
				one, reasoned))
			if line := c.wait(two); exitOf(line) != 1 {
				t.Errorf("the second of two: %s", line)
			}
			if line := c.call(name, args{"work": []string{"src"}}); exitOf(line) != 1 {
				t.Errorf("asked again: %s", line)
			}
			sent, files, _ := w.judge.heard()
			w.holdRoom(t, sent, files)
			w.holdAnswer(t, "the answers", c.heard.String())
		})
	}
}
