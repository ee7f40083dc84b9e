package web

import (
	"testing"

	"conclave/app"
)

// What runs here stands on Now with its question, and no more when it has ended.
func TestNowHasJobs(t *testing.T) {
	p := serve(t, Options{})
	now := func() []app.NowItem {
		var got struct{ Items []app.NowItem }
		p.get("GET", "/api/now", nil, 200, &got)
		return got.Items
	}
	if items := now(); len(items) != 0 {
		t.Errorf("at rest: %+v", items)
	}
	l := p.listen("")
	quest := p.start("StartQuest", map[string]any{})
	asked := l.until("question")
	table := p.start("TalkNewTable", "ash", "")
	l.until("question")
	items := now()
	if len(items) != 2 {
		t.Fatalf("%d items for two jobs: %+v", len(items), items)
	}
	for _, it := range items {
		switch it.Job {
		case quest:
			if it.Kind != "job" || !it.Here || !it.Asked || it.State != "waiting" || it.Last != asked.Question.Text || it.Name != "" {
				t.Errorf("the quest: %+v", it)
			}
		case table:
			if it.Name != "ash" || !it.Asked || it.State != "waiting" || it.Verb != "TalkNewTable" || it.Last != "" {
				t.Errorf("the table: %+v", it)
			}
		default:
			t.Errorf("nobody began %+v", it)
		}
	}
	for _, id := range []string{quest, table} {
		p.get("POST", "/api/jobs/"+id+"/stop", nil, 200, nil)
		l.until("done")
	}
	for _, it := range now() {
		if it.Job != "" {
			t.Errorf("afterwards: %+v", it)
		}
	}
}

// Who marks something tells every other page; how far one has read is told to nobody.
func TestMarksAreTold(t *testing.T) {
	p := serve(t, Options{})
	l := p.listen("")
	for _, m := range []string{`{"run":"a","seen":3}`, `{"run":"a","star":true}`, `{"run":"a","pin":true,"entry":2}`} {
		p.get("PUT", "/api/marks", m, 200, nil)
	}
	p.get("PUT", "/api/saved", `{"name":"all","query":"SELECT 1"}`, 200, nil)
	p.publish(1, 1)
	told := 0
	for {
		e, ok := l.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if e.Kind == "marks" {
			told++
		}
		if e.N == 1 {
			break
		}
	}
	if told != 3 {
		t.Errorf("told %d times of 3 marks", told)
	}
}
