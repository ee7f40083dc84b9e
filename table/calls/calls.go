// Package calls is the calls of a table on record: which records are a table's,
// what fed each call, and whether its seat might read that. Whoever takes a turn
// notes its sources here before anybody is asked; the audit reads them from the
// records alone. It decides nothing about who may read what: that is
// table.Reader's.
package calls

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/jsontext"
	"conclave/policy"
	"conclave/record"
	"conclave/table"
)

// event is the event of a record that lists what fed a call.
const event = "table.sources"

// Sources are all the things that fed one call.
type Sources struct {
	Turn      string         `json:"turn"`
	Role      string         `json:"role"`
	Character string         `json:"character,omitempty"`
	Sources   []table.Source `json:"sources"`
}

// Note puts them on a record: that of the seat which is asked.
func (s Sources) Note(on interface {
	Note(event, message string, context any) error
}) error {
	return on.Note(event, "what this call is made of", s)
}

// Run is the id of a record of a table: readable, and never too long.
func Run(campaign, interaction string, elem ...string) string {
	id := prefix(campaign) + strings.Join(append([]string{interaction}, elem...), ".")
	if len(id) > 100 {
		id = id[:67] + "." + table.Hash([]byte(id))[:32]
	}
	return id
}

// ShortID tells runs of one name apart: eight letters by chance.
func ShortID() string {
	_, random, _ := strings.Cut(record.NewRunID(time.Now()), "-")
	return random[:8]
}

func prefix(campaign string) string { return "table." + campaign + "." }

func ofTable(run, campaign string) bool { return strings.HasPrefix(run, prefix(campaign)) }

// Call is one call of a table and everything that fed it.
type Call struct {
	Run string `json:"run"`
	Sources
}

// List reads from the records of a campaign what fed each call, in order.
func List(workspace, campaign string) ([]Call, error) {
	list, err := record.List(record.Dir(workspace))
	if err != nil {
		return nil, err
	}
	var out []Call
	for _, info := range list {
		if !ofTable(info.Run, campaign) {
			continue
		}
		calls, err := callsOf(info)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", info.Run, err)
		}
		out = append(out, calls...)
	}
	slices.SortStableFunc(out, func(a, b Call) int { return strings.Compare(a.Run, b.Run) })
	return out, nil
}

func callsOf(info record.Info) ([]Call, error) {
	r, err := record.Open(info.Path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []Call
	for r.Next() {
		f := r.Frame()
		if f.Kind == record.KindHeader && record.Named(info.Path, r.Header()) != nil {
			return nil, nil // a copy; the audit speaks of it
		}
		if f.Kind != record.KindLog {
			continue
		}
		if name, _ := jsontext.String(jsontext.Get(f.Payload, "event")); name != event {
			continue
		}
		c := Call{Run: info.Run}
		if err := json.Unmarshal(jsontext.Get(f.Payload, "context"), &c.Sources); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, r.Err()
}

// Trespasses are sources that fed a call although its seat may not read them.
func (c Call) Trespasses() []string {
	reader := table.Reader{Role: policy.Role(c.Role), Character: c.Character, GMReadsJournals: true}
	var out []string
	for _, s := range c.Sources.Sources {
		if !strings.HasPrefix(s.Path, "engine:") && !reader.May(s.Path) {
			out = append(out, s.Path)
		}
	}
	return out
}

// Records are the files of a campaign's records.
func Records(workspace, campaign string) ([]string, error) {
	list, err := record.List(record.Dir(workspace))
	var out []string
	for _, info := range list {
		if ofTable(info.Run, campaign) {
			out = append(out, info.Path)
		}
	}
	return out, err
}
