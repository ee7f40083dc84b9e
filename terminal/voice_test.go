package terminal

import (
	"bytes"
	"testing"

	"conclave/app"
	"conclave/internal/screen"
)

// TestBlocksStandApart: the blocks of one answer do not run together (S20), also
// where other things happen between them, and where a block's end is told late.
func TestBlocksStandApart(t *testing.T) {
	said := func(text string) app.Speech { return app.Speech{Emoji: "🐱", Name: "Cat", Text: text} }
	ended := func(text string) app.Speech {
		return app.Speech{Emoji: "🐱", Name: "Cat", Part: app.Paused, Text: text}
	}
	for _, c := range []struct {
		name   string
		events []app.Speech
		want   string
	}{
		{"as they end", []app.Speech{said("I lo"), said("ok."), ended("I look."), said("It "), said("holds."), ended("It holds.")}, "I look.\n\n  It holds."},
		{"three", []app.Speech{said("A."), ended("A."), said("B."), ended("B."), said("C.")}, "A.\n\n  B.\n\n  C."},
		{"told late", []app.Speech{said("I look."), said("It ho"), ended("I look."), said("lds."), ended("It holds."), said("Go.")}, "I look.It holds.\n\n  Go."},
		{"another's block", []app.Speech{said("I lo"), ended("what a helper said"), said("ok.")}, "I look."},
	} {
		var out bytes.Buffer
		v, w := &voice{}, screen.New(&out, screen.Options{Terminal: true, Plain: true})
		for _, e := range append(c.events, app.Speech{Part: app.Whole}) {
			v.hear(w, e)
		}
		if got := out.String(); got != "\n🐱 Cat: "+c.want+"\n" {
			t.Errorf("%s: the screen shows %q, want %q", c.name, got, c.want)
		}
	}
}
