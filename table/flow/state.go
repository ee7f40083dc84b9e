package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/table"
	door "conclave/workspace"
)

// Scene is a stretch of the story in one place.
type Scene struct {
	Number int    `json:"number"`
	Slug   string `json:"slug"`
	Title  string `json:"title"`
	Place  string `json:"place,omitempty"`
	Part   int    `json:"part,omitempty"` // of a scene that grew too long for one file
	Size   int    `json:"size,omitempty"` // bytes written to its file so far
}

// File is the scene's file within the campaign.
func (s Scene) File() string {
	if s.Part > 1 {
		return fmt.Sprintf("scenes/%03d-%s-part-%d.md", s.Number, s.Slug, s.Part)
	}
	return fmt.Sprintf("scenes/%03d-%s.md", s.Number, s.Slug)
}

// Kinds of events.
const (
	EventSession = "session" // a session began
	EventCommit  = "commit"  // a cycle was committed
	EventEnd     = "end"     // a session ended
	EventSeat    = "seat"    // a person stepped away or came back, a status changed
	EventSave    = "save"
	EventRestore = "restore"
	EventRename  = "rename"
	EventFork    = "fork"
)

// Event is one file of the table's log, in the order of Seq. It is the stored
// form: fields may be added, none may change its meaning.
type Event struct {
	V        int                     `json:"v"`
	Seq      int                     `json:"seq"`
	Kind     string                  `json:"kind"`
	Time     time.Time               `json:"time"`
	Session  int                     `json:"session,omitempty"`
	Cycle    int                     `json:"cycle,omitempty"`
	Run      string                  `json:"run,omitempty"` // the interaction
	Input    *Input                  `json:"input,omitempty"`
	Blocks   []table.Block           `json:"blocks,omitempty"`
	Context  string                  `json:"context,omitempty"` // the GM's notes
	Scene    *Scene                  `json:"scene,omitempty"`
	Statuses map[string]table.Status `json:"statuses,omitempty"`
	Asked    []Asked                 `json:"asked,omitempty"`
	Rolls    []uint64                `json:"rolls,omitempty"`
	// Journals are the characters whose entries this event set off; all that
	// was kept for them is spent.
	Journals []string        `json:"journals,omitempty"`
	Flushed  bool            `json:"flushed,omitempty"`
	Away     map[string]bool `json:"away,omitempty"` // stepped away (true), came back (false)
	Name     string          `json:"name,omitempty"` // of a save point, of a rename
	Warnings []string        `json:"warnings,omitempty"`
	Withheld string          `json:"withheld,omitempty"` // text after a signal, for the audit
	To       int             `json:"to,omitempty"`       // the event that a restore goes back to
}

// Asked is one request to a player and what it came to.
type Asked struct {
	Character string            `json:"character"`
	Sub       int               `json:"sub"`
	Type      table.RequestType `json:"type,omitempty"`
	Outcome   string            `json:"outcome"` // answer, veto, error
	Private   bool              `json:"private,omitempty"`
	Response  string            `json:"response"`
	Discarded string            `json:"discarded,omitempty"` // by a veto
	PromptSHA string            `json:"prompt_sha256,omitempty"`
}

// Input is what an interaction begins with.
type Input struct {
	Kind string `json:"kind"` // session-start, said, continue, signal
	// Who said it: a character, or "table" for a person without one, or "gm".
	Who   string   `json:"who,omitempty"`
	Text  string   `json:"text,omitempty"`
	Names []string `json:"names,omitempty"` // of a person's signal
}

// exchange is what the recap remembers of a commit.
type exchange struct {
	Cycle  int
	Input  *Input
	Blocks []table.Block
}

// state is the log added up.
type state struct {
	seq       int
	cycle     int
	session   int
	inSession bool
	statuses  map[string]table.Status
	away      map[string]int // character to the cycle in which its person left
	scene     Scene
	context   string
	recap     []exchange
	rounds    [][]table.Block // since the last round of journals
	secrets   []heldSecret    // of the cycles so far, see secrecy.go
	lastJob   map[string]int  // character to the cycle of its newest journal job
}

func newState() state {
	return state{statuses: map[string]table.Status{}, away: map[string]int{}, lastJob: map[string]int{}}
}

// maxRecap bounds the recap in bytes: the GM's memory of what was said lately.
const maxRecap = 24 << 10

func (s *state) apply(e Event) {
	s.seq = max(s.seq, e.Seq)
	s.cycle = max(s.cycle, e.Cycle)
	s.session = max(s.session, e.Session)
	maps.Copy(s.statuses, e.Statuses)
	for who, gone := range e.Away {
		if gone {
			s.away[who] = e.Cycle
		} else {
			delete(s.away, who)
		}
	}
	if e.Scene != nil {
		s.scene = *e.Scene
	}
	switch e.Kind {
	case EventSession:
		s.inSession = true
	case EventEnd:
		s.inSession = false
	case EventCommit:
		s.context = e.Context
		s.secrets = hold(s.secrets, secretsOf(e.Asked))
		s.remember(exchange{e.Cycle, e.Input, e.Blocks})
		if len(e.Blocks) > 0 {
			s.rounds = append(s.rounds, e.Blocks)
		}
	case EventRename:
		s.rename(e.Name)
	}
	if e.Flushed {
		s.rounds = nil
		for _, c := range e.Journals {
			s.lastJob[c] = e.Cycle
		}
	}
}

func (s *state) rename(pair string) {
	from, to, _ := strings.Cut(pair, " ")
	if v, ok := s.statuses[from]; ok {
		s.statuses[to] = v
		delete(s.statuses, from)
	}
	if v, ok := s.away[from]; ok {
		s.away[to] = v
		delete(s.away, from)
	}
	if v, ok := s.lastJob[from]; ok {
		s.lastJob[to] = v
		delete(s.lastJob, from)
	}
	s.secrets = slices.Clone(s.secrets)
	for i := range s.secrets {
		if s.secrets[i].Who == from {
			s.secrets[i].Who = to
		}
	}
	for _, blocks := range s.rounds {
		for i := range blocks {
			for j, n := range blocks[i].Audience.Names {
				if n == from {
					blocks[i].Audience.Names[j] = to
				}
			}
		}
	}
}

func (s *state) remember(x exchange) {
	s.recap = append(s.recap, x)
	size := 0
	for i := len(s.recap) - 1; i >= 0; i-- {
		size += s.recap[i].size()
		if size > maxRecap && i < len(s.recap)-1 {
			s.recap = slices.Clone(s.recap[i+1:])
			return
		}
	}
}

func (x exchange) size() int {
	n := 64
	if x.Input != nil {
		n += len(x.Input.Text)
	}
	for _, b := range x.Blocks {
		n += len(b.Text)
	}
	return n
}

const logVersion = 1

func logName(e Event) string { return fmt.Sprintf("log/%08d-%s.json", e.Seq, e.Kind) }

// ReadLog returns the events of a campaign, oldest first. It takes no lock.
func ReadLog(workspace, campaign string) ([]Event, error) {
	var out []Event
	err := eachEvent(workspace, campaign, func(e Event) error {
		out = append(out, e)
		return nil
	})
	return out, err
}

func eachEvent(workspace, campaign string, visit func(Event) error) error {
	dir := filepath.Join(table.PrivatePath(workspace, campaign), "log")
	entries, err := os.ReadDir(dir) // sorted
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".json" || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		data, err := door.ReadOwn(filepath.Join(dir, entry.Name()), door.MaxFile)
		if err != nil {
			return err
		}
		var e Event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("read the table's log: %s: %w", entry.Name(), err)
		}
		if e.V > logVersion {
			return fmt.Errorf("read the table's log: %s is of version %d, this program knows %d: use a newer one", entry.Name(), e.V, logVersion)
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

func loadState(workspace, campaign string) (state, error) {
	return stateAt(workspace, campaign, 1<<62)
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// stateAt adds the log up to an event. A restore goes back to the state of the
// event that it names; numbers go on.
func stateAt(workspace, campaign string, last int) (state, error) {
	s := newState()
	err := eachEvent(workspace, campaign, func(e Event) error {
		if e.Seq > last {
			return errEnough
		}
		if e.Kind == EventRestore {
			back, err := stateAt(workspace, campaign, min(e.To, e.Seq-1))
			if err != nil {
				return err
			}
			back.seq, back.cycle, back.session, back.lastJob, back.inSession = s.seq, s.cycle, s.session, s.lastJob, s.inSession
			s = back
		}
		s.apply(e)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return s, err
}
