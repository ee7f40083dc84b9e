package flow

import (
	"cmp"
	"slices"

	"conclave/internal/price"
	"conclave/quest"
	"conclave/record"
	"conclave/seat"
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
	sums := map[[2]string]*Cost{}
	err := eachRecord(root, func(_ string, rec *recorded, err error) error {
		if err != nil || !rec.belongsTo(q) {
			return nil
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
		return nil
	})
	if err != nil {
		return nil, err
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

// eachRecord reads every record, as far as it can be read.
func eachRecord(root string, use func(path string, rec *recorded, err error) error) error {
	list, err := record.List(record.Dir(root))
	if err != nil {
		return err
	}
	for _, info := range list {
		rec, err := readRecord(info.Path)
		if err := use(info.Path, rec, err); err != nil {
			return err
		}
	}
	return nil
}

// Spent is what the records of a quest say was paid for, or, when there is no
// quest, those of all that was done without one. A definition that is not over
// counts: it has no other quest. So do those before a quest's own that came to
// nothing. A record that cannot be read could be one of them, and nobody knows
// what it cost.
func Spent(root string, q *quest.Quest, prices price.List) (sum seat.Spending, err error) {
	spent, _, err := spending(root, q, prices)
	return spent, err
}

// SpentDefining is what was paid for definitions that came to nothing since the
// last one that did not: a new one begins with it, or whoever stops before they
// agree would begin with nothing spent as often as they like.
func SpentDefining(root string, prices price.List) (seat.Spending, error) {
	_, vain, err := spending(root, nil, prices)
	return vain, err
}

// spending goes through the records, oldest first. In vain is what was paid for
// definitions that came to nothing, or are not over, since the last quest.
func spending(root string, q *quest.Quest, prices price.List) (sum, vain seat.Spending, err error) {
	err = eachRecord(root, func(path string, rec *recorded, err error) error {
		if err != nil && (rec.History == nil || rec.Header.Run == "" || rec.countsFor(q)) {
			return seat.Unread(path, err)
		}
		if err != nil {
			return nil
		}
		paid := rec.paid.Sum(rec.History, prices)
		if rec.countsFor(q) {
			sum = sum.Add(paid)
		}
		switch {
		case rec.Header.Attributes["flow"] != "define":
		case rec.filed == nil || rec.filed.Quest == newQuest:
			vain = vain.Add(paid)
		default:
			if q != nil && rec.belongsTo(q) {
				sum = sum.Add(vain)
			}
			vain = seat.Spending{}
		}
		return nil
	})
	return sum, vain, err
}

// countsFor says whether a run counts in the budget of a quest, or of all that
// is done without one.
func (rec *recorded) countsFor(q *quest.Quest) bool {
	if rec.Header.Attributes["flow"] == "define" && rec.filed == nil {
		return !rec.Sealed()
	}
	return q == nil && rec.Header.Attributes["quest"] == noQuest || q != nil && rec.belongsTo(q)
}

// belongsTo says whether a run was one of the quest's. Its definition began
// before it had a name.
func (rec *recorded) belongsTo(q *quest.Quest) bool {
	if rec.Header.Attributes["flow"] == "define" {
		return rec.filed != nil && rec.filed.Quest == q.Title
	}
	return rec.Header.Attributes["quest"] == QuestID(q)
}
