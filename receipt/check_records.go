package receipt

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"conclave/audit"
)

// Recorded is a record that the reader has, and what package audit says of it.
type Recorded struct {
	Name     string
	Frames   uint64
	Withheld int // payloads that are not in this copy
	Report   *audit.Report
	Judge    *Judge // what the record of a judge says of it; nil for the gate's own
}

// records: those that are here are the receipt's, and audit finds nothing in them.
func (c *checker) records(r *Receipt, list []Recorded) {
	missing := []string{r.Record.Run}
	for _, j := range c.b.Judges {
		if j.Run != "" {
			missing = append(missing, j.Run)
		}
	}
	runs := len(missing)
	for _, rec := range list {
		if c.clean(func() { c.recorded(r, rec) }) {
			c.shownRecord(rec)
		}
		missing = slices.DeleteFunc(missing, func(run string) bool { return run == rec.Report.Run })
	}
	if len(missing) > 0 {
		c.open("records", "%d of %d were not looked at: what is stated of a judge rests on whoever vouches", len(missing), runs)
	}
}

// shownRecord says what a record shows in which nothing was found.
func (c *checker) shownRecord(rec Recorded) {
	what := "whole and sealed"
	if rec.Judge != nil {
		what += ", and says of the judge what the receipt says"
	}
	if rec.Withheld > 0 {
		what = "sealed, without some of its payloads"
	}
	if len(rec.Report.Findings) == 0 {
		what += "; audit finds nothing in it"
	}
	c.show("records", "%s is the record of run %s, %s", rec.Name, rec.Report.Run, what)
}

func (c *checker) recorded(r *Receipt, rec Recorded) {
	for _, g := range rec.Report.Gaps {
		c.open("records", "%s: %s", rec.Name, g)
	}
	i := slices.IndexFunc(c.b.Judges, func(j Judge) bool { return j.Run == rec.Report.Run && j.Run != "" })
	if i >= 0 {
		c.ofJudge(&c.b.Judges[i], rec)
		return
	}
	c.audited(rec)
	switch {
	case rec.Report.Run != r.Record.Run:
		c.find("records", "%s is of run %s, which is none of this receipt's", rec.Name, rec.Report.Run)
	case rec.Report.Head != r.Record.Head || rec.Frames != r.Record.Frames || !rec.Report.Sealed:
		c.find("records", "%s is not the gate's record that the receipt hangs on", rec.Name)
	}
}

func (c *checker) audited(rec Recorded) {
	for _, f := range rec.Report.Findings {
		c.find("records", "%s: %s", rec.Name, f)
	}
}

// ofJudge: what the receipt says of a judge is what its record says.
func (c *checker) ofJudge(j *Judge, rec Recorded) {
	if rec.Report.Head != j.Head || rec.Frames != j.Frames || !rec.Report.Sealed || rec.Report.Role != c.b.Case.Role {
		c.find("records", "%s is not the record of judge %d that the receipt speaks of", rec.Name, j.Number)
		return
	}
	if j.Failed == "" {
		c.audited(rec)
	} else if n := len(rec.Report.Findings); n > 0 {
		c.open("records", "audit finds %s in that of judge %d, whose votes were not counted",
			many(n, "fault", "faults"), j.Number)
	}
	switch {
	case rec.Withheld > 0:
		c.open("records", "%s is withheld in %s: what judge %d was given and said was not held against it",
			many(rec.Withheld, "payload", "payloads"), rec.Name, j.Number)
	case rec.Judge != nil:
		c.asRecorded(j, rec)
	}
}

// asRecorded compares them member by member.
func (c *checker) asRecorded(j *Judge, rec Recorded) {
	if len(rec.Report.Findings) == 0 && (j.Failed == "") != (rec.Judge.Failed == "") {
		c.find("records", "judge %d is said to have failed, or to have judged, and by its record it is the other way",
			j.Number)
		return
	}
	stated, err := compared(*j)
	recorded, err2 := compared(*rec.Judge)
	if err != nil || err2 != nil {
		c.find("records", "judge %d cannot be compared with its record", j.Number)
		return
	}
	members := maps.Clone(stated)
	maps.Copy(members, recorded)
	for _, member := range slices.Sorted(maps.Keys(members)) {
		if stated[member] != recorded[member] {
			c.find("records", "%q of judge %d is not what its record says: %s", member, j.Number,
				shorten(recorded[member]))
		}
	}
	denied := 0
	for _, d := range j.Denied {
		denied += d.Count
	}
	for _, t := range rec.Report.Turns {
		if t.Denied != denied {
			c.find("records", "%d things are said to have been kept from judge %d, and by its record %d were",
				denied, j.Number, t.Denied)
			break
		}
	}
}

// compared are the members of a judge, as they are written, without what its
// record cannot say: which of the cited places are there, and the words for why
// there is no verdict.
func compared(j Judge) (map[string]string, error) {
	j.Failed = ""
	j.Given = slices.SortedFunc(slices.Values(j.Given), func(a, b audit.Item) int { return cmp.Compare(a.Path, b.Path) })
	j.Findings = slices.Clone(j.Findings)
	for i := range j.Findings {
		at := slices.Clone(j.Findings[i].Citations)
		for k := range at {
			at[k].OK, at[k].Reason = false, ""
		}
		j.Findings[i].Citations = at
	}
	data, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	err = json.Unmarshal(data, &raw)
	out := map[string]string{}
	for name, value := range raw {
		out[name] = string(value)
	}
	return out, err
}

// shorten is the beginning of a value.
func shorten(value string) string {
	if r := []rune(value); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return cmp.Or(value, "nothing")
}
