package flow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/agent/scripted"
	"conclave/gate"
	"conclave/policy"
	"conclave/receipt"
	"conclave/record"
	"conclave/seat"
)

const slain = `{"verdict":"Dragon Slain","summary":"it is","criteria":` +
	`[{"number":1,"status":"met","evidence":"report.txt:1"}]}`

// panel is a case before judges that play scripts, the n-th the n-th.
func panel(t *testing.T, scripts ...string) Options {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "report.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := gate.Open(t.Context(), gate.Ask{Root: dir, Role: policy.Dragon, Rule: gate.All, N: len(scripts),
		Criteria: "The report is true.", Work: []string{"report.txt"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return Options{
		Root: dir, Program: "conclave test", Case: opened.Case, Criteria: opened.Criteria, Work: opened.Work,
		Dress: func(n int, p *seat.Plan) (string, error) {
			script, err := scripted.Parse([]byte("as dragon\nturn\n" + scripts[n-1]))
			p.Agent, p.InProcess, p.Program = &scripted.Agent{Script: script}, true, "conclave test"
			return "", err
		},
		Vouch: func(string, []byte) error { return nil },
	}
}

// ends are the reasons for which the records below a root were sealed, by role;
// one that was not sealed has "".
func ends(t *testing.T, root string) (reasons map[string][]string, events string) {
	t.Helper()
	list, err := record.List(record.Dir(root))
	if err != nil {
		t.Fatal(err)
	}
	reasons = map[string][]string{}
	for _, info := range list {
		r, err := record.Open(info.Path)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			events += string(r.Frame().Payload) + "\n"
		}
		sealed, _ := r.Sealed()
		role := r.Header().Attributes["role"]
		reasons[role] = append(reasons[role], sealed.Reason)
		if err := errors.Join(r.Err(), r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, list := range reasons {
		slices.Sort(list)
	}
	return reasons, events
}

// Three judges at once, of whom one never answers: when the person gives up, all
// have left, every record is sealed, and nothing was voted or decided.
func TestStoppedWhileOneIsSilent(t *testing.T) {
	t.Parallel()
	o := panel(t, "  answer "+slain, "  stall", "  answer "+slain)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan int, 3)
	o.Tell = func(p Progress) {
		if p.Done {
			done <- p.Judge
		}
	}
	go func() {
		<-done
		<-done
		stop() // two have answered, the third sits there
	}()
	made, err := Run(ctx, o)
	if made != nil || !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", made, err)
	}
	if late := <-done; late != 2 {
		t.Errorf("the last one to leave was judge %d", late)
	}
	reasons, events := ends(t, o.Root)
	if got := reasons["dragon"]; !slices.Equal(got, []string{"done", "done", "stopped"}) {
		t.Errorf("the judges' records ended %q", got)
	}
	if got := reasons[Role]; !slices.Equal(got, []string{"stopped"}) {
		t.Errorf("the gate's record ended %q", got)
	}
	for _, event := range []string{eventJudged, eventDecided, receipt.Event} {
		if strings.Contains(events, `"`+event+`"`) {
			t.Errorf("%s is on a record", event)
		}
	}
}

// One who cannot be seated keeps the others from a verdict; they are not left
// sitting there.
func TestNobodyIsLeftBehind(t *testing.T) {
	t.Parallel()
	o := panel(t, "  answer "+slain, "  answer "+slain, "  nonsense")
	if made, err := Run(t.Context(), o); made != nil || err == nil {
		t.Fatalf("%+v, %v", made, err)
	}
	reasons, events := ends(t, o.Root)
	if got := reasons["dragon"]; !slices.Equal(got, []string{"done", "done"}) {
		t.Errorf("the judges' records ended %q", got)
	}
	if got := reasons[Role]; !slices.Equal(got, []string{"failed"}) || strings.Contains(events, eventDecided) {
		t.Errorf("the gate's record ended %q", got)
	}
}

// All three answer: the heads on the receipt are those of their records, and the
// receipt follows from the votes.
func TestThreeAtOnce(t *testing.T) {
	t.Parallel()
	prevails := strings.NewReplacer("Slain", "Prevails", `"met"`, `"not met"`).Replace(slain)
	o := panel(t, "  answer "+slain, "  answer "+prevails, "  die now")
	made, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := made.Body.Decision; got.Outcome != gate.NotMet || got.Criteria[0].Met != 1 || got.Criteria[0].Abstained != 1 {
		t.Errorf("%+v", got)
	}
	for _, j := range made.Body.Judges {
		path, err := record.Path(o.Root, j.Run)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := record.Verify(path); err != nil || got.Head.String() != j.Head {
			t.Errorf("judge %d: %v, %v", j.Number, got.Head, err)
		}
	}
}
