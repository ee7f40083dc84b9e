package calibrate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/audit"
	"conclave/gate"
	"conclave/policy"
)

// known is a judge who knows the answers, and says what becomes makes of them.
func known(t *testing.T, become func(name string, persuaded bool, answer string) string) Judge {
	cases, persuasions := allCases(t)
	return func(_ context.Context, x Trial) (Verdict, error) {
		v := Verdict{Status: map[int]string{}, Families: []string{"acme/one"}, Usage: audit.Usage{Input: 2, CostUSD: 0.5}}
		list, persuaded := []Criterion(nil), false
		for _, c := range cases {
			if c.Name == x.Name {
				list = c.Criteria
			}
		}
		for _, p := range persuasions {
			if p.name == x.Name {
				list, persuaded = p.made.Criteria, true
			}
		}
		for i, k := range list {
			v.Status[i+1] = become(x.Name, persuaded, k.Answer)
		}
		return v, nil
	}
}

func other(answer string) string {
	if answer == gate.Met {
		return gate.NotMet
	}
	return gate.Met
}

func TestRunCounts(t *testing.T) {
	cases, persuasions := allCases(t)
	n := 0
	for _, c := range cases {
		n += len(c.Criteria)
	}
	for _, x := range []struct {
		name   string
		become func(string, bool, string) string
		want   Tally
		pairs  Persuaded
		clean  bool
	}{
		{"knows all", func(_ string, _ bool, a string) string { return a }, Tally{n, n, 0, 0},
			Persuaded{Pairs: len(persuasions), Decided: len(persuasions)}, true},
		{"knows nothing", func(string, bool, string) string { return gate.NotJudged }, Tally{n, 0, 0, n},
			Persuaded{Pairs: len(persuasions)}, true},
		{"says an unknown word", func(string, bool, string) string { return "surely" }, Tally{n, 0, 0, n},
			Persuaded{Pairs: len(persuasions)}, true},
		{"is always wrong", func(_ string, _ bool, a string) string { return other(a) }, Tally{n, 0, n, 0},
			Persuaded{Pairs: len(persuasions), Decided: len(persuasions)}, false},
		{"is persuaded", func(_ string, p bool, a string) string {
			if p {
				return other(a)
			}
			return a
		}, Tally{n, n, 0, 0},
			Persuaded{Pairs: len(persuasions), Decided: len(persuasions), Flipped: len(persuasions), AsAimed: len(persuasions)}, false},
		{"is silenced", func(_ string, p bool, a string) string {
			if p {
				return gate.NotJudged
			}
			return a
		}, Tally{n, n, 0, 0}, Persuaded{Pairs: len(persuasions), Silenced: len(persuasions)}, true},
	} {
		r, err := Run(t.Context(), Options{Persuasion: true}, known(t, x.become))
		if err != nil {
			t.Fatal(err)
		}
		got := *r.Pairs
		got.List = nil
		if r.Criteria != x.want || !same(got, x.pairs) || r.Clean() != x.clean {
			t.Errorf("who %s: %+v %+v clean %v", x.name, r.Criteria, got, r.Clean())
		}
		sum, confused := Tally{}, 0
		for _, c := range r.Classes {
			sum.Criteria, sum.Right, sum.Wrong, sum.NotJudged =
				sum.Criteria+c.Criteria, sum.Right+c.Right, sum.Wrong+c.Wrong, sum.NotJudged+c.NotJudged
		}
		for _, c := range r.Confusion {
			confused += c.Count
		}
		if sum != r.Criteria || confused != n || len(r.Cases) != len(cases) {
			t.Errorf("who %s: the classes come to %+v, the confusion to %d of %d", x.name, sum, confused, n)
		}
		if want := int64(2 * (len(cases) + len(persuasions))); r.Usage.Input != want || r.Usage.CostUSD != float64(want)/4 {
			t.Errorf("who %s: used %+v", x.name, r.Usage)
		}
	}
}

func same(a, b Persuaded) bool {
	return a.Pairs == b.Pairs && a.Decided == b.Decided && a.Flipped == b.Flipped && a.AsAimed == b.AsAimed &&
		a.Silenced == b.Silenced && a.Refused == b.Refused
}

// A case that the search for reasoning refuses is neither judged nor silenced.
func TestRefusedPersuasion(t *testing.T) {
	judge := known(t, func(_ string, _ bool, a string) string { return a })
	r, err := Run(t.Context(), Options{Persuasion: true, Only: "pity"}, func(ctx context.Context, x Trial) (Verdict, error) {
		if x.Name == "pity" {
			return Verdict{Refused: "words of the party"}, nil
		}
		return judge(ctx, x)
	})
	if err != nil || len(r.Cases) != 1 || r.Pairs.Refused != 1 || r.Pairs.Silenced != 0 || r.Pairs.Decided != 0 {
		t.Errorf("%v %+v", err, r.Pairs)
	}
}

// A judge finds the work and nothing else, and nothing is left behind.
func TestTrials(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	seen := 0
	var dirs []string
	_, err := Run(t.Context(), Options{Only: "rotate-*"}, func(_ context.Context, x Trial) (Verdict, error) {
		seen++
		dirs = append(dirs, x.Dir)
		entries, err := os.ReadDir(x.Dir)
		if err != nil || len(entries) != len(x.Work) || !slices.Contains(x.Work, "rotate.sh") ||
			!strings.HasPrefix(x.Criteria, "1. `sh rotate.sh DIR` removes") || !strings.Contains(x.Criteria, "(check: `d=$(mktemp -d)") {
			t.Errorf("%v: %+v", err, x)
		}
		if strings.Contains(x.Dir, "rotate") {
			t.Errorf("the directory %s tells the name of the case", filepath.Base(x.Dir))
		}
		return Verdict{}, nil
	})
	if err != nil || seen != 2 {
		t.Errorf("%d cases: %v", seen, err)
	}
	for _, d := range dirs {
		if _, err := os.Stat(d); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", d, err)
		}
	}
	if _, err := Run(t.Context(), Options{Only: "nobody"}, nil); !errors.Is(err, ErrNoCase) {
		t.Errorf("%v", err)
	}
	if _, err := Run(t.Context(), Options{Only: "[x"}, nil); err == nil {
		t.Error("a broken pattern is taken")
	}
	failed := errors.New("no disk")
	if _, err := Run(t.Context(), Options{}, func(context.Context, Trial) (Verdict, error) { return Verdict{}, failed }); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

// A gate reads every case as it is meant: the criteria with their checks, the
// work whole.
func TestCasesAreRead(t *testing.T) {
	cases, persuasions := allCases(t)
	for _, p := range persuasions {
		cases = append(cases, p.made)
	}
	for _, c := range cases {
		dir := t.TempDir()
		top, err := c.write(dir)
		if err != nil {
			t.Fatal(err)
		}
		o, err := gate.Open(t.Context(), gate.Ask{Root: dir, Role: policy.Dragon, Rule: gate.All, N: 1, Criteria: c.text(), Work: top})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if len(o.Criteria) != len(c.Criteria) || len(o.Case.Work.Files) != len(c.work) || len(o.Case.Work.LeftOut) > 0 {
			t.Errorf("%s: %d criteria of %d, %d files of %d, left out %v", c.Name, len(o.Criteria), len(c.Criteria),
				len(o.Case.Work.Files), len(c.work), o.Case.Work.LeftOut)
		}
		for i, k := range o.Criteria {
			if k.Check != strings.TrimSpace(c.Criteria[i].Check) || !strings.HasPrefix(k.Text, c.Criteria[i].Text) {
				t.Errorf("%s: %+v", c.Name, k)
			}
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}
