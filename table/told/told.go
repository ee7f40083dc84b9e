// Package told is what a person hears of a table that does not go as it
// should: characters that are not seated, warnings about files, journal entries
// that wait, files that were set aside, faults that a game master could not put
// right, a game master who gave no answer, a player whose model gave none.
//
// It decides two things. Whether somebody has to know at all: a remark of the
// engine that nobody can act on is the log's. And who: what may give away what
// only the game master knows goes to the game master. Where that is an agent,
// the person at the screen is the only one who can act, whatever seat they
// have; they are told that something is amiss, and where it can be read, and not
// what it says.
//
// The sentences that the engine writes into the log are made here, so that they
// can be known again; those of older logs are known as well. The package reads
// nothing and writes nothing.
package told

import (
	"fmt"
	"strings"

	"conclave/policy"
	"conclave/table"
	"conclave/table/journal"
	"conclave/table/story"
)

// Kind is what a thing is about.
type Kind string

// The kinds.
const (
	Unseated Kind = "unseated" // a file of party/ that is no character
	File     Kind = "file"     // what validate warns of, or calls a problem
	Journal  Kind = "journal"  // an entry that could not be written
	Aside    Kind = "aside"    // a file that was set aside
	Repair   Kind = "repair"   // a fault of the game master's that was given up
	Silence  Kind = "silence"  // a game master who gave no answer

	// Unanswered is a player whose model gave no answer.
	Unanswered Kind = "unanswered"
)

// Everybody may read it.
const Everybody = "everybody"

// Thing is one thing to be told.
type Thing struct {
	Kind Kind   `json:"kind"`
	For  string `json:"for"` // gm, a character, or everybody
	Text string `json:"text"`
	// Seq is the event that it happened in; 0 for what is so now.
	Seq int `json:"-"`
}

const (
	givenUp  = "given up after repairs: "
	setAside = " belongs to no open cycle: set aside in "
	notAsked = " was not asked again, because asking its model is what failed: "
)

// GivenUp is the remark about a fault that stayed one.
func GivenUp(fault string) string { return givenUp + fault }

// SetAside is the remark about a file of tmp/ that no open cycle knows.
func SetAside(name, campaign string) string {
	return fmt.Sprintf("tmp/%s%s.conclave/tables/%s/stale", name, setAside, campaign)
}

// NoAnswer is the remark about a turn that the game master did not take.
func NoAnswer(turn, attempt int, why string) string {
	return fmt.Sprintf("turn %d of the GM, attempt %d: %s", turn, attempt, why)
}

// NotAsked is the remark about a player whose model gave no answer.
func NotAsked(character, why string) string { return character + notAsked + why }

// Waiting is what everybody is told when a game master gives no answer and is
// asked again.
func Waiting(attempt, of int) string {
	return fmt.Sprintf("The game master has given no answer and is asked again (%d of %d).", attempt, of)
}

// OfRemark makes a thing of a remark of the engine; false for one that nobody
// has to act on.
func OfRemark(remark string, cycle int) (Thing, bool) {
	in := fmt.Sprintf("in cycle %d ", cycle)
	switch {
	case strings.HasPrefix(remark, givenUp):
		fault := strings.TrimPrefix(remark, givenUp)
		return Thing{Repair, string(policy.GM), in + "the game master did not put right: " + fault, 0}, true
	case strings.Contains(remark, notAsked):
		return Thing{Unanswered, string(policy.GM), in + remark, 0}, true
	case strings.Contains(remark, setAside):
		return Thing{Aside, string(policy.GM), remark, 0}, true
	}
	var turn, attempt int
	if n, _ := fmt.Sscanf(remark, "turn %d of the GM, attempt %d:", &turn, &attempt); n == 2 {
		_, why, _ := strings.Cut(remark, ": ")
		return Thing{Silence, string(policy.GM), in + "the game master gave no answer: " + why, 0}, true
	}
	return Thing{}, false
}

// OfEvent are the things that happened in an event.
func OfEvent(e story.Event) []Thing {
	var out []Thing
	for _, w := range e.Warnings {
		if t, ok := OfRemark(w, e.Cycle); ok {
			t.Seq = e.Seq
			out = append(out, t)
		}
	}
	return out
}

// OfRoster are the files of party/ that are nobody's seat. Their names are no
// secret: everybody can see who is missing.
func OfRoster(r table.Roster) []Thing {
	var out []Thing
	for _, p := range r.Problems {
		out = append(out, Thing{Kind: Unseated, For: Everybody, Text: "not seated: " + p})
	}
	return out
}

// OfFiles are what validate says of the campaign's files.
func OfFiles(problems, warnings []string, r table.Roster) []Thing {
	known := map[string]bool{}
	for _, p := range r.Problems {
		known[p] = true
	}
	var out []Thing
	for _, text := range append(append([]string{}, problems...), warnings...) {
		if !known[text] {
			known[text] = true
			out = append(out, Thing{Kind: File, For: string(policy.GM), Text: text})
		}
	}
	return out
}

// OfJournals are the entries that could not be written. That there is one may
// give away that its character was up to something.
func OfJournals(parked []journal.Job, r table.Roster) []Thing {
	var out []Thing
	for _, j := range parked {
		text := fmt.Sprintf("the journal of %s lacks cycle %d: the entry could not be written, and is tried again "+
			"whenever the table is played", r.Called(j.Character), j.Cycle)
		out = append(out, Thing{Kind: Journal, For: j.Character, Text: text})
	}
	return out
}

// amiss is what somebody reads of a kind who may not read the thing.
var amiss = map[Kind]string{
	Unseated: "a file of the party is not seated",
	File:     "something about the campaign's files",
	Journal:  "a journal entry could not be written",
	Aside:    "a file was set aside",
	Repair:   "something the game master wanted done was not",
	Silence:  "the game master gave no answer and was asked again",

	Unanswered: "the model of a player gave no answer",
}

// May says whether a seat may read a thing.
func (t Thing) May(seat string) bool {
	return t.For == Everybody || t.For == seat || seat == string(policy.GM)
}

// To is a thing as a seat reads it; "" for nothing. agent says that the game
// master is one, and that nobody else can act.
func (t Thing) To(seat string, agent bool) string {
	switch {
	case t.May(seat):
		return t.Text
	case agent:
		return amiss[t.Kind]
	}
	return ""
}

// maxReport bounds the report at the beginning: it is to be read.
const maxReport = 5

// Report is what the seats of a screen are told at the beginning, in a few
// lines, of those things that they were not told before. The same words are
// said once.
func Report(things []Thing, seats []string, agent bool, campaign string) []string {
	if len(seats) == 0 {
		seats = []string{table.SeatTable}
	}
	var out []string
	count := map[string]int{}
	for _, t := range things {
		said := map[string]bool{}
		for _, seat := range seats {
			text := t.To(seat, agent)
			if text == "" || said[text] {
				continue
			}
			said[text] = true
			if count[text]++; count[text] == 1 {
				out = append(out, text)
			}
		}
	}
	for i, text := range out {
		if n := count[text]; n > 1 {
			out[i] = fmt.Sprintf("%s (%d times)", text, n)
		}
	}
	if len(out) > maxReport {
		out = append(out[:maxReport-1], fmt.Sprintf("and %d more", len(out)-maxReport+1))
	}
	if len(out) > 0 {
		out = append(out, "conclave table status "+campaign+" lists everything.")
	}
	return out
}
