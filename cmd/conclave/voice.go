package main

import (
	"strings"
	"sync"

	"conclave/agent"
	"conclave/internal/screen"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/transcript"
)

// voice shows a conversation to the person: as it is spoken on a terminal,
// whole where nobody watches.
type voice struct {
	env   *environment
	out   *screen.Writer
	muted bool

	mu      sync.Mutex
	speaker string         // whose words are on the screen, unfinished
	words   *screen.Writer // where they go
	pause   bool           // a block has ended; the next begins a paragraph
}

// Hear implements flow.Listener.
func (v *voice) Hear(face profile.Face, e agent.Event) {
	if v.muted || !v.env.Stdout.Terminal() {
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
		v.speaker, v.words = face.Name(), v.out.Stream(saidIndent)
		v.out.Printf("\n%s ", v.tag(face))
	} else if v.pause {
		_, _ = v.words.Write([]byte("\n\n")) // what a screen does not take is in the record
	}
	v.pause = false
	_, _ = v.words.Write([]byte(e.Delta))
}

// Said implements flow.Listener.
func (v *voice) Said(face profile.Face, text string) {
	if v.muted {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.speaker != "" {
		_ = v.words.Flush()
		v.speaker, v.pause = "", false
		v.out.Printf("\n")
		return
	}
	v.out.Printf("\n%s %s\n", v.tag(face), screen.Indent(saidIndent, text))
}

// saidIndent stands before every line of what somebody says but the first: what
// begins a line is the program's, a speaker's tag above all.
const saidIndent = "  "

func (v *voice) tag(face profile.Face) screen.Text {
	return screen.Bold(face.Emoji() + " " + face.Name() + ":")
}

// aside tells the person something that is no part of the story.
func (v *voice) aside(format string, args ...any) {
	out := v.out
	if v.muted {
		out = v.env.Stderr
	}
	out.Printf("%s\n", screen.Dim(screen.Sprintf(format, args...)))
}

// result prints what an interaction came to beside what was said.
func (v *voice) result(res flow.Result) {
	if res.EndedEarly != "" {
		v.out.Printf("\n%s %s\n", screen.Red("Ended early:"), screen.Indent(saidIndent, res.EndedEarly))
	}
	if res.EndedEarly == "" && res.Outcome != "" {
		v.out.Printf("\n%s\n", screen.Indent(saidIndent, res.Outcome))
	}
	for _, u := range res.Unverified {
		v.out.Printf("%s\n", screen.Dim("not verified: "+u))
	}
	for _, n := range res.Notes {
		v.out.Printf("%s\n", screen.Dim("Note: "+n))
	}
}

// offers lists the next steps in plain words.
func (v *voice) offers(list []quest.Offer) {
	if len(list) == 0 {
		return
	}
	v.out.Printf("\n%s\n", screen.Bold("What next?"))
	for i, o := range list {
		v.out.Printf("  %d. %s\n", i+1, strings.ReplaceAll(o.String(), "\n", " "))
	}
}
