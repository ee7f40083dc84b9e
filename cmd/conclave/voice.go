package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"conclave/agent"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/transcript"
)

// voice shows a conversation to the person: as it is spoken on a terminal,
// whole where nobody watches.
type voice struct {
	env   *environment
	out   io.Writer
	muted bool

	mu      sync.Mutex
	speaker string // whose words are on the screen, unfinished
	pause   bool   // a block has ended; the next begins a paragraph
}

// Hear implements flow.Listener.
func (v *voice) Hear(face profile.Face, e agent.Event) {
	if v.muted || !v.env.StdoutIsTerminal {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Entry != nil {
		v.pause = v.speaker != "" && e.Entry.Type == transcript.AssistantMessage
		return
	}
	if e.Delta == "" {
		return
	}
	if v.speaker == "" {
		v.speaker = face.Name()
		fmt.Fprintf(v.out, "\n%s ", v.tag(face))
	} else if v.pause {
		fmt.Fprint(v.out, "\n\n")
	}
	v.pause = false
	fmt.Fprint(v.out, shown(e.Delta))
}

// Said implements flow.Listener.
func (v *voice) Said(face profile.Face, text string) {
	if v.muted {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.speaker != "" {
		v.speaker, v.pause = "", false
		fmt.Fprintln(v.out)
		return
	}
	fmt.Fprintf(v.out, "\n%s %s\n", v.tag(face), shown(text))
}

func (v *voice) tag(face profile.Face) string {
	return v.env.style().bold(face.Emoji() + " " + shown(face.Name()) + ":")
}

// aside tells the person something that is no part of the story.
func (v *voice) aside(format string, args ...any) {
	out := v.out
	if v.muted {
		out = v.env.Stderr
	}
	fmt.Fprintln(out, v.env.style().dim(shown(fmt.Sprintf(format, args...))))
}

// result prints what an interaction came to beside what was said.
func (v *voice) result(res flow.Result) {
	s := v.env.style()
	if res.EndedEarly != "" {
		fmt.Fprintf(v.out, "\n%s %s\n", s.red("Ended early:"), shown(res.EndedEarly))
	}
	if res.EndedEarly == "" && res.Outcome != "" {
		fmt.Fprintf(v.out, "\n%s\n", shown(res.Outcome))
	}
	for _, u := range res.Unverified {
		fmt.Fprintln(v.out, s.dim("not verified: "+shown(u)))
	}
	for _, n := range res.Notes {
		fmt.Fprintln(v.out, s.dim("Note: "+shown(n)))
	}
}

// offers lists the next steps in plain words.
func (v *voice) offers(list []quest.Offer) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(v.out, "\n%s\n", v.env.style().bold("What next?"))
	for i, o := range list {
		fmt.Fprintf(v.out, "  %d. %s\n", i+1, shown(strings.ReplaceAll(o.String(), "\n", " ")))
	}
}
