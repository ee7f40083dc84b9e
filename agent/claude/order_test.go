package claude

import (
	"strings"
	"testing"
)

func TestOrder(t *testing.T) {
	o := newOrder(map[string]bool{"old": true})
	var got []string
	pass := func(lines [][]byte) {
		for _, l := range lines {
			got = append(got, string(l))
		}
	}
	pass(o.next([]byte("answer"), "2", "1"))
	pass(o.next([]byte("aside"), "", ""))
	pass(o.next([]byte("after"), "3", "2"))
	pass(o.next([]byte("question"), "1", "old"))
	pass(o.next([]byte("orphan"), "5", "nobody"))
	pass(o.next([]byte("next"), "4", "3"))
	pass(o.late(false))
	pass(o.late(true))
	if want := "aside question answer after next orphan"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}
