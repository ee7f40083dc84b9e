package dice

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kept makes a log that keeps its mark, with two rolls in it.
func kept(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	opt := Options{Path: filepath.Join(dir, "dice-log.jsonl"), SeedPath: filepath.Join(dir, "seed"),
		Head: filepath.Join(dir, "head")}
	l, err := OpenLog(opt)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		must[Line](t)(l.Roll(Request{Expr: "1d20"}))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return opt
}

// What is done to a log is noticed, named, kept and can be sealed; then numbers
// go on, and the break is told for ever.
func TestSeal(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(opt Options, data []byte) []byte // nil: the file is gone
		says string
		good uint64
	}{
		"a byte changed": {func(_ Options, d []byte) []byte {
			return bytes.Replace(d, []byte(`"n":1,`), []byte(`"n":7,`), 1)
		}, "the line was changed", 0},
		"a line taken out": {func(_ Options, d []byte) []byte {
			lines := bytes.SplitAfter(d, []byte("\n"))
			return bytes.Join(append(lines[:2:2], lines[3:]...), nil)
		}, "the chain is broken", 0},
		"the end cut": {func(_ Options, d []byte) []byte {
			lines := bytes.SplitAfter(d, []byte("\n"))
			return bytes.Join(lines[:3], nil)
		}, "the log ends with roll 1, and roll 2 had fallen", 1},
		"the last line feed cut": {func(_ Options, d []byte) []byte { return d[:len(d)-1] },
			"the log ends with roll 1, and roll 2 had fallen", 1},
		"emptied": {func(Options, []byte) []byte { return []byte{} }, "roll 2 had fallen", 0},
		"removed": {func(Options, []byte) []byte { return nil }, "the log is gone", 0},
		"removed, and the head too": {func(o Options, _ []byte) []byte {
			os.Remove(o.Head)
			return nil
		}, "the log is gone", 0},
	} {
		t.Run(name, func(t *testing.T) {
			opt := kept(t)
			l := must[*Log](t)(OpenLog(opt))
			opt.Marks = []Mark{l.Mark()} // as a table's story keeps it
			l.Close()
			whole, err := os.ReadFile(opt.Path)
			if err != nil {
				t.Fatal(err)
			}
			harmed := c.harm(opt, whole)
			if harmed == nil {
				err = os.Remove(opt.Path)
			} else {
				err = os.WriteFile(opt.Path, harmed, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			var damage *DamageError
			if _, err := OpenLog(opt); !errors.As(err, &damage) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("opened with %v", err)
			}
			if now, _ := os.ReadFile(opt.Path); !bytes.Equal(now, harmed) {
				t.Fatal("who only looked has changed it")
			}
			keep := t.TempDir()
			sealed := must[Sealed](t)(Seal(opt, keep, "a test"))
			if sealed.N != 2 || sealed.Good != c.good {
				t.Errorf("%+v", sealed)
			}
			if harmed != nil {
				if old, err := os.ReadFile(sealed.Kept); err != nil || !bytes.Equal(old, harmed) {
					t.Errorf("the file was not kept: %v", err)
				}
			}
			l = must[*Log](t)(OpenLog(opt))
			if next := must[Line](t)(l.Roll(Request{Expr: "1d20"})); next.N != 3 {
				t.Errorf("the next roll is %d", next.N)
			}
			if err := l.End("over"); err != nil {
				t.Fatal(err)
			}
			l.Close()
			rep := must[Report](t)(VerifyFile(opt.Path))
			if !rep.OK() || len(rep.Breaks) != 1 || rep.Breaks[0].From != c.good+1 || rep.Breaks[0].To != 2 ||
				rep.Breaks[0].Note != "a test" {
				t.Errorf("%v %+v", rep.Bad, rep.Breaks)
			}
			for _, e := range rep.Epochs {
				if e.State != "verified" {
					t.Errorf("epoch %d is %s: the break shows its seed", e.Epoch, e.State)
				}
			}
			if _, err := Seal(opt, keep, ""); !errors.Is(err, ErrWhole) {
				t.Errorf("sealed twice: %v", err)
			}
			// A break cannot be taken out again.
			data, _ := os.ReadFile(opt.Path)
			for i, raw := range bytes.SplitAfter(data, []byte("\n")) {
				if bytes.Contains(raw, []byte(`"event":"break"`)) {
					rest := bytes.SplitAfter(data, []byte("\n"))
					if without := bytes.Join(append(rest[:i:i], rest[i+1:]...), nil); verify("x", without).OK() {
						t.Error("the break was taken out unseen")
					}
				}
			}
		})
	}
}

func TestSealLostSeed(t *testing.T) {
	opt := kept(t)
	if err := os.Remove(opt.SeedPath); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(opt); !errors.As(err, new(*DamageError)) {
		t.Fatal(err)
	}
	sealed := must[Sealed](t)(Seal(opt, t.TempDir(), ""))
	rep := must[Report](t)(VerifyFile(opt.Path))
	if !sealed.Seed || sealed.N != 2 || !rep.OK() || rep.Epochs[0].State != "lost" {
		t.Errorf("%+v %+v", sealed, rep)
	}
}

// A log that is exchanged under an open table takes no more lines.
func TestLogGoneWhileOpen(t *testing.T) {
	for name, harm := range map[string]func(string) error{
		"removed":   os.Remove,
		"exchanged": func(p string) error { return errors.Join(os.Remove(p), os.WriteFile(p, nil, 0o600)) },
	} {
		opt := kept(t)
		l := must[*Log](t)(OpenLog(opt))
		if err := harm(opt.Path); err != nil {
			t.Fatal(err)
		}
		if line, err := l.Roll(Request{Expr: "1d20"}); !errors.As(err, new(*DamageError)) {
			t.Errorf("%s: roll %d fell into nothing: %v", name, line.N, err)
		}
		l.Close()
		if sealed := must[Sealed](t)(Seal(opt, t.TempDir(), "")); sealed.N != 2 {
			t.Errorf("%s: %+v", name, sealed)
		}
	}
}

// A rotation that was cut anywhere turns one page.
func TestRotateOnce(t *testing.T) {
	opt := kept(t)
	for i, cut := range []func(l *Log) error{
		func(l *Log) error { return l.Rotate("r0", "a restore") },                           // after it
		func(l *Log) error { return l.finish("r1", "a restore") },                           // after the seed
		func(l *Log) error { return errors.Join(l.finish("r2", "a restore"), l.begin("")) }, // before the answer
		func(*Log) error { return nil },                                                     // before it
	} {
		id := "r" + string(rune('0'+i))
		l := must[*Log](t)(OpenLog(opt))
		epoch := l.st.epoch
		if err := cut(l); err != nil {
			t.Fatal(err)
		}
		l.Close()
		l = must[*Log](t)(OpenLog(opt))
		for range 2 {
			if err := l.Rotate(id, "a restore"); err != nil {
				t.Fatal(err)
			}
		}
		if l.st.epoch != epoch+1 || !l.st.open {
			t.Errorf("%s: epoch %d after %d", id, l.st.epoch, epoch)
		}
		l.Close()
	}
	if rep := must[Report](t)(VerifyFile(opt.Path)); !rep.OK() {
		t.Error(rep.Bad)
	}
}
