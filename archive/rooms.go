package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"conclave/audit"
	"conclave/internal/jsontext"
)

// Room is what an agent was allowed to see when it said something, by the record
// of its seat. What a person's own session was allowed to see nobody noted.
type Room struct {
	Turn       string // "" before the first
	Level      string // that the walls were shown to hold, by the receipt of the turn; "" without one
	ModelInput string // whether the model's input is on the record, by the same
	Given      []string
	Denied     []string
}

// stretch is the entries of a source from one on for which one room holds.
type stretch struct {
	from int64
	room *Room
}

// rooms are the stretches of a source, in order: one begins where a seat is
// opened, and where a turn begins. The receipt at a turn's end tells of all its
// attempts.
func (a *Archive) rooms(ctx context.Context, source int64) ([]stretch, error) {
	var events []Row // first all: whoever shows one needs the handle again
	for r, err := range a.Rows(ctx, "WHERE i.source = ? AND i.event IN (?, ?, ?) ORDER BY i.id", source,
		audit.EventRoom, audit.EventMessage, audit.EventReceipt) {
		if err != nil {
			return nil, err
		}
		events = append(events, r)
	}
	var list []stretch
	var given, denied []string
	for _, r := range events {
		s, err := a.Show(r.Ref)
		if err != nil {
			return nil, fmt.Errorf("%s: what was allowed to be seen: %w", r.Run, err)
		}
		var event struct { // of which kind it is its members say
			Given    []audit.Item      `json:"given"`
			Denied   []audit.Source    `json:"denied"`
			Turn     string            `json:"turn"`
			Input    string            `json:"model_input"`
			Enforced audit.Enforcement `json:"enforced"`
		}
		if err := json.Unmarshal(jsontext.Get(s.Line, "context"), &event); err != nil {
			continue // an audit says so; here it is as if it were not there
		}
		switch {
		case event.Input != "":
			for i := len(list) - 1; i >= 0 && (list[i].room.Turn == "" || list[i].room.Turn == event.Turn); i-- {
				if list[i].room.Turn != "" { // else the seat was opened again between two attempts
					list[i].room.Level, list[i].room.ModelInput = event.Enforced.Level, event.Input
				}
			}
		case event.Turn != "":
			list = append(list, stretch{r.ID, &Room{Turn: event.Turn, Given: given, Denied: denied}})
		default:
			given, denied = []string{}, []string{}
			for _, x := range event.Given {
				given = append(given, x.Path)
			}
			for _, x := range event.Denied {
				denied = append(denied, x.Name)
			}
			list = append(list, stretch{r.ID, &Room{Given: given, Denied: denied}})
		}
	}
	return list, nil
}

// roomAt is the room of the entry with an id; nil where none is known.
func roomAt(list []stretch, id int64) *Room {
	i, _ := slices.BinarySearchFunc(list, id, func(s stretch, id int64) int {
		if s.from <= id {
			return -1
		}
		return 1
	})
	if i == 0 {
		return nil
	}
	return list[i-1].room
}

// responses are what the entries of a source tell of responses of models, as
// usage counts them, by the entry's id.
func (a *Archive) responses(ctx context.Context, source int64) (map[int64]*Response, error) {
	rows, err := a.reader.QueryContext(ctx, `SELECT item, key, model, coalesce(at, 0),
		input, output, cache_read, cache_write, cache_write_1h, web_searches FROM usage_rows WHERE source = ?`, source)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := map[int64]*Response{}
	for rows.Next() {
		var item int64
		r := &Response{}
		if err := rows.Scan(&item, &r.Key, &r.Model, &r.At, &r.Input, &r.Output, &r.CacheRead, &r.CacheWrite,
			&r.CacheWrite1h, &r.Searches); err != nil {
			return nil, err
		}
		if p, ok := a.opts.Prices.Of(r.Model); ok {
			r.CostUSD = p.Cost(r.Usage)
		}
		list[item] = r
	}
	return list, rows.Err()
}
