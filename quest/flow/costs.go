package flow

import (
	"cmp"
	"slices"

	"conclave/quest"
	"conclave/record"
)

// Cost is what one role consumed in one phase.
type Cost struct {
	Phase  string  `json:"phase"`
	Role   string  `json:"role"`
	Turns  int     `json:"turns"`
	Input  int64   `json:"input_tokens"` // those of the cache included
	Output int64   `json:"output_tokens"`
	USD    float64 `json:"usd"` // as far as it is known
}

// Costs sums the receipts of a quest's records by phase and role. A record that
// cannot be read is left to `conclave audit`.
func Costs(root string, q *quest.Quest) ([]Cost, error) {
	list, err := record.List(record.Dir(root))
	if err != nil {
		return nil, err
	}
	sums := map[[2]string]*Cost{}
	for _, info := range list {
		rec, err := readRecord(info.Path)
		if err != nil || !rec.belongsTo(q) {
			continue
		}
		key := [2]string{rec.Header.Attributes["phase"], rec.Header.Attributes["role"]}
		c := sums[key]
		if c == nil {
			c = &Cost{Phase: key[0], Role: key[1]}
			sums[key] = c
		}
		for _, r := range rec.Receipts() {
			c.Turns++
			c.Input += r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite
			c.Output += r.Usage.Output
			c.USD += r.Usage.CostUSD
		}
	}
	out := []Cost{}
	for _, c := range sums {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Role, b.Role))
	})
	return out, nil
}

// belongsTo says whether a run was one of the quest's. Its definition began
// before it had a name.
func (rec *recorded) belongsTo(q *quest.Quest) bool {
	if rec.Header.Attributes["flow"] == "define" {
		return rec.filed != nil && rec.filed.Quest == q.Title
	}
	return rec.Header.Attributes["quest"] == questID(q)
}
