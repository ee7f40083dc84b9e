package receipt

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"conclave/audit"
)

// recordedJudge is the record of the first judge, as an honest reader has it.
func recordedJudge(r *Receipt) Recorded {
	j := r.Body.Judges[0]
	again := j
	again.Findings = append([]Finding(nil), j.Findings...)
	for i := range again.Findings { // the work is not there to look them up
		at := append([]Citation(nil), again.Findings[i].Citations...)
		for k := range at {
			at[k].OK, at[k].Reason = false, "there is no such file in view"
		}
		again.Findings[i].Citations = at
	}
	return Recorded{Name: "judge.record", Frames: j.Frames, Judge: &again, Report: &audit.Report{
		Run: j.Run, Role: "dragon", Head: j.Head, Sealed: true, Sound: true, Turns: []audit.Turn{{Denied: 4}}}}
}

// change makes a value another one of its type.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
			return
		}
		v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		change(t, v.Index(0))
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			v.Set(reflect.ValueOf(at.Add(time.Second)))
			return
		}
		change(t, v.Field(0))
	default:
		t.Fatalf("no other %s", v.Type())
	}
}

// Every member of a judge is held against its record: a record that says another
// thing of any of them is found, and of the words of each finding.
func TestRecordContradicts(t *testing.T) {
	r := someReceipt(t)
	verify := func(rec Recorded) *Checked { return Verify(r, Against{Head: r.Record.Head, Records: []Recorded{rec}}) }
	if got := verify(recordedJudge(r)); got.Result != Holds || !about(got.Shown, "records") {
		t.Fatalf("the honest record: %s %v", got.Result, got.Findings)
	}
	kind := reflect.TypeFor[Judge]()
	for i := range kind.NumField() {
		rec := recordedJudge(r)
		change(t, reflect.ValueOf(rec.Judge).Elem().Field(i))
		if got := verify(rec); got.Result != DoesNotHold || !about(got.Findings, "records") {
			t.Errorf("%s: %s %v", kind.Field(i).Name, got.Result, got.Findings)
		}
	}
	for name, lie := range map[string]func(*Recorded){
		"status":    func(c *Recorded) { c.Judge.Findings[1].Status = "not met" },
		"evidence":  func(c *Recorded) { c.Judge.Findings[1].Evidence = "nothing of it" },
		"citation":  func(c *Recorded) { c.Judge.Findings[0].Citations[0].Line = 2 },
		"sent":      func(c *Recorded) { c.Judge.Sent = append(c.Judge.Sent, Sent{SHA256: strings.Repeat("b", 64)}) },
		"probes":    func(c *Recorded) { c.Judge.Enforced.Probes = nil },
		"level":     func(c *Recorded) { c.Judge.Enforced.Level = "open" },
		"given":     func(c *Recorded) { c.Judge.Given = c.Judge.Given[:1] },
		"denied":    func(c *Recorded) { c.Report.Turns[0].Denied = 0 },
		"failed":    func(c *Recorded) { c.Judge.Failed, c.Judge.Verdict, c.Judge.Findings = "it said nothing", "", nil },
		"head":      func(c *Recorded) { c.Report.Head = strings.Repeat("0", 64) },
		"frames":    func(c *Recorded) { c.Frames++ },
		"unsealed":  func(c *Recorded) { c.Report.Sealed = false },
		"role":      func(c *Recorded) { c.Report.Role = "cat" },
		"audit":     func(c *Recorded) { c.Report.Findings = []audit.Finding{{Rule: "chain", What: "a byte"}} },
		"elsewhere": func(c *Recorded) { c.Report.Run = "20260301T115900.000Z-0123456789ab" },
	} {
		rec := recordedJudge(r)
		lie(&rec)
		if got := verify(rec); got.Result != DoesNotHold || !about(got.Findings, "records") {
			t.Errorf("%s: %s %v", name, got.Result, got.Findings)
		}
	}
	rec := recordedJudge(r)
	rec.Withheld, rec.Judge = 3, nil
	if got := verify(rec); got.Result != Holds || !about(got.Open, "records") ||
		!strings.Contains(got.Shown[len(got.Shown)-1].What, "without some of its payloads") {
		t.Errorf("a copy without its payloads: %s, shown %v", got.Result, got.Shown)
	}
}
