package dice

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func vectorSeed() Seed {
	var s Seed
	for i := range s {
		s[i] = byte(i)
	}
	return s
}

func TestVectors(t *testing.T) {
	if got := vectorSeed().commitment(); got != "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd" {
		t.Fatal(got)
	}
	for _, c := range []struct {
		n     uint64
		expr  string
		faces string
		total int64
	}{
		{1, "1d20", "[4]", 4},
		{2, "4d6k3", "[5 3 2 6]", 14},
		{3, "2d20kh1", "[19 3]", 19},
		{3, "2d20kl1", "[19 3]", 3},
		{4, "8d6", "[5 2 6 3 5 1 6 4]", 32},
		{5, "1d100", "[87]", 87},
		{6, "10d10", "[2 3 8 2 3 8 5 9 1 7]", 48},
	} {
		r, err := Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Eval(newStream(vectorSeed(), "table", c.n))
		if err != nil {
			t.Fatal(err)
		}
		var faces []int
		for _, d := range res[0].Dice {
			faces = append(faces, d.Faces...)
		}
		if fmt.Sprint(faces) != c.faces || res[0].Total != c.total {
			t.Errorf("n=%d %s: %v = %d, want %s = %d", c.n, c.expr, faces, res[0].Total, c.faces, c.total)
		}
	}
}

func TestChiSquare(t *testing.T) {
	const rolls = 200_000
	var count [20]float64
	for n := range uint64(rolls) {
		f, _ := newStream(vectorSeed(), "table", n).Face(20)
		count[f-1]++
	}
	var chi float64
	for _, c := range count {
		chi += (c - rolls/20) * (c - rolls/20) / (rolls / 20)
	}
	if math.Abs(chi-19.62) > 0.005 {
		t.Errorf("χ² = %.3f at 19 degrees of freedom, expected 19.62", chi)
	}
}

// rejecting makes sure that the values above the last multiple are thrown away.
func TestRejection(t *testing.T) {
	s := newStream(Seed{}, "", 1)
	s.buf = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 9}
	if f, _ := s.Face(6); f != 4 { // 2³²-1 is rejected for six sides: 2³² mod 6 = 4
		t.Errorf("got %d, want the second number, 9 mod 6 + 1 = 4", f)
	}
}

func testLog(t *testing.T, opt Options) (*Log, Options) {
	t.Helper()
	dir := t.TempDir()
	if opt.Path == "" {
		opt.Path, opt.SeedPath = filepath.Join(dir, "dice-log.jsonl"), filepath.Join(dir, "seed")
	}
	l, err := OpenLog(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, opt
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestLogStory(t *testing.T) {
	seed := vectorSeed()
	l, opt := testLog(t, Options{TestSeed: &seed})
	commit, test := l.Commitment()
	if commit != seed.commitment() || !test {
		t.Fatal(commit, test)
	}
	if err := l.TableSeed("table"); err != nil {
		t.Fatal(err)
	}
	if err := l.TableSeed("again"); err == nil {
		t.Error("a second table seed was taken")
	}
	roll := must[Line](t)
	dc := int64(3)
	if got := roll(l.Roll(Request{ID: "a", Expr: "1d20", DC: &dc, Who: "tilda", Cycle: "12"})).Text(); got != "1d20 = [4] = 4 vs DC 3 — success (+1)" {
		t.Error(got)
	}
	if again := roll(l.Roll(Request{ID: "a", Expr: "1d20"})); again.N != 1 {
		t.Errorf("the same request fell again as roll %d", again.N)
	}
	sealed := roll(l.Roll(Request{Expr: "4d6k3", Visibility: sealed, Purpose: "the trap"}))
	priv := roll(l.Roll(Request{Expr: "2d20kh1", Visibility: Private, Who: "tilda"}))
	hidden := roll(l.Roll(Request{Expr: "8d6", DC: &dc, HideDC: true}))
	if len(sealed.Salt) != 32 || len(priv.Salt) != 32 || len(hidden.Salt) != 32 {
		t.Error("hidden rolls without salt")
	}
	var void *VoidError
	if _, err := l.Roll(Request{ID: "v", Expr: "1/(1d1-1)"}); !errors.As(err, &void) || void.N != 5 {
		t.Errorf("void roll: %v", err)
	}
	if _, err := l.Roll(Request{ID: "v", Expr: "1/(1d1-1)"}); !errors.As(err, &void) || void.N != 5 {
		t.Errorf("void roll asked again: %v", err)
	}
	checkViews(t, l, sealed)
	roll(l.Override(1, 20, "gm", "a gift"))
	if err := l.Rotate("b1", "restore"); err != nil {
		t.Fatal(err)
	}
	if next := roll(l.Roll(Request{Expr: "1d20"})); next.N != 6 || next.Epoch != 2 {
		t.Errorf("after the rotation: n=%d epoch=%d", next.N, next.Epoch)
	}
	rep := must[Report](t)(VerifyFile(opt.Path))
	if !rep.OK() || rep.Rolls != 5 || rep.Voids != 1 || rep.Overrides != 1 || rep.Epochs[0].State != "verified" || rep.Epochs[1].State != "open" {
		t.Errorf("%+v %+v", rep, rep.Bad)
	}
	data := must[[]byte](t)(os.ReadFile(opt.Path))
	if !bytes.Contains(data, []byte(`"test":true`)) || !bytes.Contains(data, []byte("no table seed")) {
		t.Error("the log does not say test, or that epoch 2 has no table seed")
	}
	if info := must[os.FileInfo](t)(os.Stat(opt.SeedPath)); info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the seed file has mode %v", info.Mode())
	}
}

func checkViews(t *testing.T, l *Log, sealed Line) {
	t.Helper()
	text := func(v Viewer) string {
		b, _ := json.Marshal(must[[]Line](t)(ViewFile(l.opt.Path, v)))
		return string(b)
	}
	other, own, gm := text(Viewer{Name: "gideon"}), text(Viewer{Name: "tilda"}), text(Viewer{GM: true})
	for _, secret := range []string{"the trap", "4d6k", "2d20k", sealed.Salt, `"check":{"op":"\u003e=","target":3,"success":true,"margin":29}`} {
		if strings.Contains(other, secret) {
			t.Errorf("%q is in another player's view", secret)
		}
		if !strings.Contains(gm, secret) {
			t.Errorf("%q is missing in the GM's view", secret)
		}
	}
	if !strings.Contains(other, sealed.Hash) || !strings.Contains(own, "2d20") || strings.Contains(own, "the trap") {
		t.Error("views are wrong")
	}
	if _, err := l.Reveal(sealed.N); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text(Viewer{Name: "gideon"}), "the trap") {
		t.Error("the revealed roll is still hidden")
	}
}

func TestNoOverride(t *testing.T) {
	l, opt := testLog(t, Options{})
	must[Line](t)(l.Roll(Request{Expr: "1d6"}))
	for range 2 {
		if err := l.Forbid(true); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Rotate("r", "a new page"); err != nil {
		t.Fatal(err)
	}
	l.Close()
	l, _ = testLog(t, opt) // the setting outlasts epoch and process
	if _, err := l.Override(1, 6, "gm", ""); err == nil {
		t.Error("an override was taken")
	}
	if err := l.Forbid(false); err != nil {
		t.Fatal(err)
	}
	must[Line](t)(l.Override(1, 6, "gm", "house rule"))
	data := must[[]byte](t)(os.ReadFile(opt.Path))
	if bytes.Count(data, []byte(`"event":"setting"`)) != 2 || !verify(opt.Path, data).OK() {
		t.Errorf("the changes of the setting are not visible:\n%s", data)
	}
}

func TestFork(t *testing.T) {
	l, opt := testLog(t, Options{})
	must[Line](t)(l.Roll(Request{Expr: "1d6"}))
	dir := t.TempDir()
	other := Options{Path: filepath.Join(dir, "dice-log.jsonl"), SeedPath: filepath.Join(dir, "seed")}
	if err := l.Fork("fork", other.Path); err != nil {
		t.Fatal(err)
	}
	// Whoever was killed makes the same copy again, and turns no page.
	l.Close()
	l = must[*Log](t)(OpenLog(opt))
	copied, epoch := must[[]byte](t)(os.ReadFile(other.Path)), l.st.epoch
	if err := l.Fork("fork", other.Path); err != nil || l.st.epoch != epoch {
		t.Errorf("epoch %d after %d, %v", l.st.epoch, epoch, err)
	}
	if again := must[[]byte](t)(os.ReadFile(other.Path)); !bytes.Equal(again, copied) {
		t.Errorf("the second copy is\n%s\nand not\n%s", again, copied)
	}
	f, _ := testLog(t, other)
	a, b := must[Line](t)(l.Roll(Request{Expr: "1d6"})), must[Line](t)(f.Roll(Request{Expr: "1d6"}))
	ca, _ := l.Commitment()
	cb, _ := f.Commitment()
	if a.N != 2 || b.N != 2 || ca == cb {
		t.Errorf("n %d and %d, same seed: %v", a.N, b.N, ca == cb)
	}
	for _, p := range []string{opt.Path, other.Path} {
		if rep := must[Report](t)(VerifyFile(p)); !rep.OK() || rep.Epochs[0].State != "verified" {
			t.Errorf("%s: %+v", p, rep.Bad)
		}
	}
}

func TestLostSeed(t *testing.T) {
	l, opt := testLog(t, Options{})
	must[Line](t)(l.Roll(Request{Expr: "1d6"}))
	l.Close()
	if err := os.Remove(opt.SeedPath); err != nil {
		t.Fatal(err)
	}
	var lost *seedLostError
	if _, err := OpenLog(opt); !errors.As(err, &lost) {
		t.Fatal(err)
	}
	opt.acceptLostSeed = true
	l, _ = testLog(t, opt)
	if next := must[Line](t)(l.Roll(Request{Expr: "1d6"})); next.N != 2 || next.Epoch != 2 {
		t.Errorf("%+v", next)
	}
	if rep := must[Report](t)(VerifyFile(opt.Path)); !rep.OK() || rep.Epochs[0].State != "lost" {
		t.Errorf("%+v", rep)
	}
}

// story makes a log with every kind of line and ends its last epoch or not.
func story(t *testing.T, end bool) []byte {
	seed := vectorSeed()
	l, opt := testLog(t, Options{TestSeed: &seed})
	roll := must[Line](t)
	roll(l.Roll(Request{ID: "1", Expr: "3d6!r1k2 + 4dF 2d6!!r<3 2d20ra20"}))
	roll(l.Roll(Request{Expr: "1d20 + 2 >= 5", Visibility: sealed}))
	if err := l.Rotate("", ""); err != nil {
		t.Fatal(err)
	}
	roll(l.Roll(Request{Expr: "1d20", Advantage: true}))
	roll(l.Reveal(2))
	roll(l.Override(3, 1, "gm", "x"))
	if end {
		if err := l.End("session"); err != nil {
			t.Fatal(err)
		}
	}
	return must[[]byte](t)(os.ReadFile(opt.Path))
}

// TestTamper changes a log one way after another; Verify must name the line.
func TestTamper(t *testing.T) {
	for _, end := range []bool{false, true} {
		data := story(t, end)
		if rep := verify("the log", data); !rep.OK() {
			t.Fatalf("%+v", rep.Bad)
		}
		lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		for i := range lines {
			for _, bad := range [][]byte{
				bytes.Replace(lines[i], []byte(`"epoch":`), []byte(`"epoch": `), 1),
				nil, // a line left out
				append(bytes.Clone(lines[i]), lines[i]...), // a line twice
			} {
				if bad == nil && i == len(lines)-1 {
					continue // a shorter log is a valid log; the head says which
				}
				cp := append([][]byte{}, lines...)
				cp[i] = bad
				rep := verify("the log", append(bytes.Join(cp, nil), '\n'))
				if rep.OK() || rep.Bad.Line < i+1 || rep.Bad.Line > i+2 {
					t.Errorf("line %d tampered: %+v", i+1, rep.Bad)
				}
			}
		}
	}
}

// TestForged rewrites a face and mends the whole chain: the seed, or failing
// that the arithmetic, still gives it away.
func TestForged(t *testing.T) {
	for _, end := range []bool{false, true} {
		data := story(t, end)
		prev, at := zeroHash, 0
		var out []byte
		for i, raw := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
			l, err := decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			if l.N == 3 {
				at = i + 1
				l.Results[0].Total++
			}
			enc, err := l.encode(prev)
			if err != nil {
				t.Fatal(err)
			}
			out, prev = append(out, enc...), l.Hash
		}
		rep := verify("the log", out)
		if rep.OK() || rep.Bad.Line != at || !strings.Contains(rep.Bad.Reason, "roll 3") {
			t.Errorf("end=%v: %+v, want line %d", end, rep.Bad, at)
		}
	}
}

// TestCrashAtEveryByte cuts a log at every byte. What was whole stays; the rest
// is cut with a word; play goes on with the same numbers.
func TestCrashAtEveryByte(t *testing.T) {
	data := story(t, false)
	seed := vectorSeed()
	dir := t.TempDir()
	opt := Options{Path: filepath.Join(dir, "log"), SeedPath: filepath.Join(dir, "seed"), TestSeed: &seed}
	if err := writeSeed(opt.SeedPath, seed); err != nil {
		t.Fatal(err)
	}
	soak := os.Getenv("CONCLAVE_SOAK") != ""
	for n := 0; n <= len(data); n++ {
		// Each opening waits for the disk: without soak, the ends of lines and
		// every fifth byte.
		if near := bytes.ContainsRune(data[max(0, n-2):min(len(data), n+2)], '\n'); !soak && !near && n%5 != 0 {
			continue
		}
		if err := os.WriteFile(opt.Path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := OpenLog(opt)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		whole := bytes.LastIndexByte(data[:n], '\n') + 1
		if l.cut != n-whole {
			t.Fatalf("cut at %d: said %d bytes, expected %d", n, l.cut, n-whole)
		}
		if n%16 == 0 {
			if _, err := l.Roll(Request{Expr: "1d20"}); err != nil {
				t.Fatal(err)
			}
		}
		l.Close()
		got, _ := os.ReadFile(opt.Path)
		if !bytes.HasPrefix(got, data[:whole]) || !verify("the log", got).OK() {
			t.Fatalf("cut at %d: whole lines were lost, or the log is bad", n)
		}
	}
}

func TestDamageIsLeftAlone(t *testing.T) {
	data := story(t, false)
	bad := bytes.Replace(data, []byte(`"n":2`), []byte(`"n":9`), 1)
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	var de *DamageError
	if _, err := OpenLog(Options{Path: path, SeedPath: path + ".seed"}); !errors.As(err, &de) || de.Line != 4 {
		t.Errorf("got %v, want damage at line 4", err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, bad) {
		t.Error("the damaged log was changed")
	}
}

func TestConcurrentRolls(t *testing.T) {
	l, opt := testLog(t, Options{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 5 {
				if _, err := l.Roll(Request{ID: fmt.Sprint(i%2, j), Expr: "1d20"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if rep := must[Report](t)(VerifyFile(opt.Path)); !rep.OK() || rep.Rolls != 10 {
		t.Errorf("%d rolls of 10 requests: %+v", rep.Rolls, rep.Bad)
	}
}

func TestSecondWriter(t *testing.T) {
	l, opt := testLog(t, Options{})
	f := must[*os.File](t)(os.OpenFile(opt.Path, os.O_APPEND|os.O_WRONLY, 0))
	f.WriteString("x\n")
	f.Close()
	if _, err := l.Roll(Request{Expr: "1d6"}); err == nil || !strings.Contains(err.Error(), "someone else") {
		t.Error(err)
	}
}

// TestKilled kills a process that rolls without pause: every number that it
// showed is in the log, once.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("DICE_TEST_DIR"); dir != "" {
		rollForever(dir)
	}
	dir := t.TempDir()
	for round := range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "DICE_TEST_DIR="+dir)
		out := must[interface{ Read([]byte) (int, error) }](t)(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var shown []string
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			if shown = append(shown, sc.Text()); len(shown) == 10+round*7 {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		data := must[[]byte](t)(os.ReadFile(filepath.Join(dir, "log")))
		for _, s := range shown {
			if bytes.Count(data, []byte(s)) != 1 {
				t.Errorf("%s was shown and is %d times in the log", s, bytes.Count(data, []byte(s)))
			}
		}
		if rep := verify("the log", data); !rep.OK() || len(shown) < 10 {
			t.Fatalf("%+v after %d rolls", rep.Bad, len(shown))
		}
	}
}

func rollForever(dir string) {
	l, err := OpenLog(Options{Path: filepath.Join(dir, "log"), SeedPath: filepath.Join(dir, "seed")})
	for err == nil {
		var line Line
		if line, err = l.Roll(Request{Expr: "1d20"}); err == nil {
			fmt.Println(line.Hash + `"}`)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestChainByHand recomputes a hash the way a stranger would, from the text.
func TestChainByHand(t *testing.T) {
	prev := make([]byte, 32)
	for i, raw := range strings.Split(strings.TrimSuffix(string(story(t, true)), "\n"), "\n") {
		body, hash, ok := strings.Cut(raw, `,"hash":"`)
		sum := sha256.Sum256(append(bytes.Clone(prev), body+"}"...))
		if !ok || hex.EncodeToString(sum[:])+`"}` != hash {
			t.Fatalf("line %d", i+1)
		}
		prev = sum[:]
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"event":"epoch","v":1,"epoch":1,"prev":"` + zeroHash + `","hash":"` + zeroHash + "\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if rep := verify("the log", data); rep.OK() && rep.Lines > 0 && rep.Head == zeroHash {
			t.Error("good lines without a head")
		}
	})
}
