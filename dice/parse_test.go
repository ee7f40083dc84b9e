package dice

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"d20":                    "1d20",
		" 1 D 20 + 5 ":           "1d20+5",
		"2d6+1d4+3":              "2d6+1d4+3",
		"d%":                     "1d100",
		"4df":                    "4dF",
		"4d6k3":                  "4d6kh3",
		"4d6 k 3":                "4d6kh3",
		"4d6k 1d8":               "4d6kh1 1d8",
		"4d6k":                   "4d6kh1",
		"4d6 kl1":                "4d6kl1",
		"1d20 5":                 "!",
		"3d6r 2":                 "!",
		"4d6kl":                  "4d6kl1",
		"4d6d1":                  "4d6dl1",
		"4d6 d1":                 "4d6 1d1",
		"4d6 dh1":                "4d6dh1",
		"4d6pl1":                 "4d6dl1",
		"4d6ph":                  "4d6dh1",
		"1d20 adv + 3":           "2d20kh1+3",
		"d20dis":                 "2d20kl1",
		"1d20 adv dis":           "1d20",
		"1d20 1d20":              "1d20 1d20",
		"1d20 +5":                "1d20+5",
		"3d6!":                   "3d6!",
		"3d6!!>=5":               "3d6!!>=5",
		"3d6!p<2":                "3d6!p<2",
		"3d6!=6":                 "3d6!=6",
		"3d6e6":                  "3d6!=6",
		"3d6r":                   "3d6r=1",
		"3d6rr2":                 "3d6r=2",
		"3d6ro<=2":               "3d6ro<=2",
		"3d6ra6":                 "3d6ra=6",
		"1d20kh1ma19mi2r1!":      "1d20!r=1mi2ma19kh1",
		"2*(1d4+-1)//3":          "2*(1d4+-1)/3",
		"3d6 [fire] + 1d4[cold]": "3d6 [fire]+1d4 [cold]",
		"1d20+5>=15":             "1d20+5 >= 15",
		"1d20 vs DC 15 # hit":    "1d20 vs 15 # hit",
		"1d20 == 7":              "1d20 = 7",
		"1d6! > 4":               "1d6! > 4",
		"1d6!>4 > 4":             "1d6!>4 > 4",
		"1d20 < -3":              "1d20 < -3",
		"1d20 vs 5 1d4":          "1d20 vs 5 1d4",
	} {
		r, err := Parse(in)
		if want == "!" {
			if err == nil {
				t.Errorf("%q was accepted as %s", in, r)
			}
			continue
		}
		if err != nil || r.String() != want {
			t.Errorf("%q: got %q, %v; want %q", in, r, err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "column 1: expected a number, dice such as 1d20, or a parenthesis, found the end",
		"1d20+":                "column 6: expected a number, dice such as 1d20, or a parenthesis, found the end",
		"1d20 x":               `column 6: expected an operator, a comparison, a comment or the end, found "x"`,
		"é":                    `column 1: expected a number, dice such as 1d20, or a parenthesis, found "é"`,
		"1d20 [é] q":           `column 10: expected an operator, a comparison, a comment or the end, found "q"`,
		"1d":                   "column 3: expected a number of sides, % or F, found the end",
		"1d0":                  "column 3: expected 1 to 1000000 sides, found 0",
		"1d1000001":            "column 3: expected 1 to 1000000 sides, found 1000001",
		"4d6k5":                "column 5: expected 1 to 4 dice to keep or drop, found 5",
		"4d6k3k2":              "column 6: expected one keep or drop per term, found a second",
		"1d1!":                 "dice of two or more numbered sides",
		"4dF!":                 "dice of two or more numbered sides",
		"1d6!>=1":              "one that never ends",
		"1d6r<7":               "one that never ends",
		"1d6mi5ma2":            "mi not above ma",
		"(1d4, 3)kh1":          "sets are not supported",
		"(1d4":                 "column 5: expected an operator or a closing parenthesis, found the end",
		"1d4)":                 `column 4: expected an operator, a comparison, a comment or the end, found ")"`,
		"1d20 [":               "a closing bracket of the label",
		"1d20 []":              "a label such as [fire]",
		"2d20 adv":             "adv and dis only after a leading 1d20",
		"5+1d20 adv":           "adv and dis only after a leading 1d20",
		"1d20kh1 adv":          "either adv/dis or a keep",
		"1d6!6":                `column 5: expected an operator`,
		"1d20\n":               "column 5: expected one line of text, found a control character",
		"1d20\xff":             "column 5: expected text in UTF-8, found a broken byte",
		"501d6":                "501 dice in one term",
		"0d6":                  "0 dice in one term",
		"400d6+400d6+400d6":    "more than 1000 dice in all",
		"99999999999999999999": "below 2^63",
		"1d20 >=":              "a number to compare with",
		strings.Repeat("(", 17) + "1" + strings.Repeat(")", 17): "nested deeper than 16",
		strings.Repeat("-", 17) + "1":                           "nested deeper than 16",
		strings.Repeat("1+", 128) + "1":                         "257 bytes, at most 256",
	} {
		_, err := Parse(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v; want %q", in, err, want)
		}
		var se *syntaxError
		var le *limitError
		if !errors.As(err, &se) && !errors.As(err, &le) {
			t.Errorf("%q: error of type %T", in, err)
		}
	}
}

func TestArithmetic(t *testing.T) {
	for in, want := range map[string]int64{
		"2+3*4": 14, "(2+3)*4": 20, "7/2": 3, "-7/2": -4, "7//-2": -4, "10-4-3": 3, "--5": 5,
		"9223372036854775807": math.MaxInt64, "-9223372036854775807-1": math.MinInt64,
	} {
		r, err := Parse(in)
		if err != nil {
			t.Fatal(in, err)
		}
		res, err := r.Eval(&fixed{})
		if err != nil || res[0].Total != want {
			t.Errorf("%s = %v, %v; want %d", in, res, err, want)
		}
	}
	for _, in := range []string{
		"9223372036854775807+1", "-9223372036854775807-2", "9223372036854775807*2", "5/(2-2)",
		"(-9223372036854775807-1)*-1", "(-9223372036854775807-1)/-1", "-(-9223372036854775807-1)",
	} {
		r, err := Parse(in)
		if err != nil {
			t.Fatal(in, err)
		}
		if res, err := r.Eval(&fixed{}); err == nil {
			t.Errorf("%s gave %v", in, res[0].Total)
		}
	}
}

// fixed plays the faces that a test names.
type fixed struct{ faces []int }

func (f *fixed) Face(int) (int, error) {
	if len(f.faces) == 0 {
		return 0, errors.New("no faces left")
	}
	x := f.faces[0]
	f.faces = f.faces[1:]
	return x, nil
}

func TestDisplay(t *testing.T) {
	for _, c := range []struct {
		in    string
		faces []int
		want  string
	}{
		{"1d20+5 vs 15", []int{14}, "1d20+5 = [14]+5 = 19 vs DC 15 — success (+4)"},
		{"4d6k3", []int{5, 3, 6, 4}, "4d6k3 = [5, ~~3~~, 6, 4] = 15"},
		{"4d6d1", []int{3, 3, 6, 4}, "4d6d1 = [3, ~~3~~, 6, 4] = 13"},
		{"1d20 adv", []int{4, 20}, "1d20 adv = [~~4~~, 20] = 20 (natural 20)"},
		{"2d20kl1+9 >= 11", []int{1, 7}, "2d20kl1+9 = [1, ~~7~~]+9 = 10 (natural 1) >= 11 — failure (-1)"},
		{"2d6!", []int{6, 6, 2, 3}, "2d6! = [6!, 6!, 2, 3] = 17"},
		{"1d6!!", []int{6, 6, 2}, "1d6!! = [6+6+2!] = 14"},
		{"1d6!p", []int{6, 6, 2}, "1d6!p = [6!, 6→5!, 2→1] = 12"},
		{"2d6r1", []int{1, 4, 1, 3}, "2d6r1 = [~~1~~ ~~1~~ 3, 4] = 7"},
		{"2d6ro1", []int{1, 4, 1}, "2d6ro1 = [~~1~~ 1, 4] = 5"},
		{"1d6ra6", []int{6, 5}, "1d6ra6 = [6!, 5] = 11"},
		{"2d6!r1k1", []int{6, 1, 2, 4}, "2d6!r1k1 = [6!, ~~1~~ ~~4~~, ~~2~~] = 6"},
		{"1d20mi10", []int{3}, "1d20mi10 = [3→10] = 10"},
		{"4dF", []int{1, 2, 3, 3}, "4dF = [-1, 0, 1, 1] = 1"},
		{"1d6 [fire]+ 2 [bonus]", []int{4}, "1d6 [fire]+ 2 [bonus] = [4] [fire]+2 [bonus] = 6"},
		{"2+3", nil, "2+3 = 5"},
		{"5-1d20", []int{20}, "5-1d20 = 5-[20] = -15"},
		{"1d20 <= 10", []int{7}, "1d20 = [7] = 7 <= 10 — success (+3)"},
		{"1d6=4", []int{4}, "1d6 = [4] = 4 = 4 — success (+0)"},
		{"2d20", []int{20, 20}, "2d20 = [20, 20] = 40"},
	} {
		r, err := Parse(c.in)
		if err != nil {
			t.Fatal(c.in, err)
		}
		f := &fixed{c.faces}
		res, err := r.Eval(f)
		if err != nil || len(f.faces) != 0 {
			t.Fatalf("%s: %v, faces left %v", c.in, err, f.faces)
		}
		if res[0].Text != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, res[0].Text, c.want)
		}
	}
}

// always shows the same face.
type always int

func (a always) Face(int) (int, error) { return int(a), nil }

func TestRunawayDice(t *testing.T) {
	for in, face := range map[string]int{"1d6!": 6, "1d6!!": 6, "1d6r1": 1, "300d6!": 6} {
		r, err := Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		var le *limitError
		if _, err := r.Eval(always(face)); !errors.As(err, &le) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// genExpr makes inputs that are mostly valid.
func genExpr() *rapid.Generator[string] {
	term := rapid.Custom(func(t *rapid.T) string {
		s := rapid.SampledFrom([]string{"d20", "1d20", "4d6", "2 d 8", "d%", "3dF", "17", "(1d4+2)", "-3", "- (2d6)", "12d10"}).Draw(t, "term")
		n := rapid.IntRange(0, 3).Draw(t, "mods")
		for range n {
			s += rapid.SampledFrom([]string{"", "k1", " kl", "d1", "dh", "!", "!!", "!p>3", "e4", "r", "r<2", "ro1", "ra2", "mi2", "ma9", " adv", " dis", " [a b]"}).Draw(t, "mod")
		}
		return s
	})
	return rapid.Custom(func(t *rapid.T) string {
		s := term.Draw(t, "first")
		for range rapid.IntRange(0, 4).Draw(t, "terms") {
			s += rapid.SampledFrom([]string{"+", " - ", "*", "/", " // ", " ", " vs 5 ", " >= 3 "}).Draw(t, "op") + term.Draw(t, "next")
		}
		return s + rapid.SampledFrom([]string{"", " # why not", " vs DC 12", "<4", "#x"}).Draw(t, "tail")
	})
}

func TestParsePrintParse(t *testing.T) {
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		if roundTrip(t, genExpr().Draw(t, "in")) {
			good++
		}
	})
	if good == 0 {
		t.Fatal("the generator made no valid input")
	}
}

type failer interface{ Fatalf(string, ...any) }

// roundTrip holds the property: printing what was read and reading it again
// gives the same text and, from the same seed, the same dice.
func roundTrip(t failer, in string) bool {
	r, err := Parse(in)
	if err != nil {
		return false
	}
	again, err := parse(r.String())
	if err != nil || again.String() != r.String() {
		t.Fatalf("%q → %q → %q, %v", in, r, again, err)
	}
	a, erra := r.Eval(newStream(Seed{}, "", 1))
	b, errb := again.Eval(newStream(Seed{}, "", 1))
	if (erra == nil) != (errb == nil) || len(a) != len(b) {
		t.Fatalf("%q: %v, %v", in, erra, errb)
	}
	for i := range a {
		if a[i].Total != b[i].Total || a[i].Expr != b[i].Expr {
			t.Fatalf("%q: %v, %v", in, a[i], b[i])
		}
	}
	return true
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1d20+5 vs DC 15 # hit", "4d6k3 2d20kl1", "(1d4, 2)", "3d6!p>2r<2mi2[fire]", "d%+4dF", "--(1)", "1d20 adv dis", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) { roundTrip(t, in) })
}
