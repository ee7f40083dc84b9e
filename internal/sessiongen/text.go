package sessiongen

import (
	"bytes"
	"encoding/json"
	"strings"
)

var words = strings.Fields(`the a of and to in that it is was for on with as at by from this have be
not are but what all were when we there can an your which their said if do will each about how up out
them then she many some so these would other into has more her two like him see time could no make than
first been its who now people my made over did down only way find use may water long little very after
called just where most know party agent record session bytes dragon café naïve Größe 日本 🐉`)

func (g *generator) word() string {
	if g.rare != nil && g.rand.IntN(2) == 0 {
		return rareWord(g.rare.Uint64())
	}
	return words[g.rand.IntN(len(words))]
}

// rareWord is the nth word that is not among the usual ones.
func rareWord(n uint64) string {
	const syllables = "babedafemigokulanopiraseta vuzochexi"
	var b [16]byte
	out := append(b[:0], 'q')
	for n = n*2654435761%1_000_003 + 1; n > 0; n /= 18 {
		at := n % 18 * 2
		out = append(out, syllables[at:at+2]...)
	}
	return string(bytes.TrimSpace(out))
}

// prose is about n bytes of sentences in paragraphs.
func (g *generator) prose(n int) string {
	var b strings.Builder
	b.Grow(n + 32)
	for b.Len() < n {
		for range 6 + g.rand.IntN(14) {
			b.WriteString(g.word())
			b.WriteByte(' ')
		}
		switch g.rand.IntN(5) {
		case 0:
			b.WriteString("\"" + g.word() + "\".\n\n")
		case 1:
			b.WriteString("`" + g.word() + "`.\n")
		default:
			b.WriteString(g.word() + ". ")
		}
	}
	return b.String()
}

// code is about n bytes of something like source: short lines, indents, quotes.
func (g *generator) code(n int) string {
	var b strings.Builder
	b.Grow(n + 64)
	for b.Len() < n {
		b.WriteString(strings.Repeat("    ", g.rand.IntN(4)))
		switch g.rand.IntN(5) {
		case 0:
			b.WriteString("if err := " + g.word() + "(" + g.word() + "); err != nil {\n")
		case 1:
			b.WriteString("\treturn fmt.Errorf(\"" + g.word() + " %s: %w\", " + g.word() + ", err)\n")
		case 2:
			b.WriteString("// " + g.word() + " " + g.word() + " " + g.word() + " " + g.word() + " " + g.word() + " " + g.word() + "\n")
		case 3:
			b.WriteString("-rw-r--r-- 1 ada ada 4096 Nov 15 00:29 " + g.word() + "_" + g.word() + ".go\n")
		default:
			b.WriteString(g.word() + "(" + g.word() + ", " + g.word() + ").filter(x => x." + g.word() + " > 0)\n")
		}
	}
	return b.String()
}

// quote is a JSON string as the program writes it: no HTML escapes.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
