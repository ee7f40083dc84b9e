package redact

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// shape is a token that begins with a prefix of its own.
type shape struct {
	kind   string
	prefix string
	body   *class
	min    int  // shortest body
	max    int  // longest body, when a longer run cannot be this token; 0: any
	edge   bool // a letter or digit before it, or a longer run, makes it something else
}

// class is a set of bytes.
type class [256]bool

func classOf(ranges string) *class {
	var c class
	for i := 0; i < len(ranges); i++ {
		if i+2 < len(ranges) && ranges[i+1] == '-' {
			for b := int(ranges[i]); b <= int(ranges[i+2]); b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[ranges[i]] = true
	}
	return &c
}

// The alphabets of tokens. None is changed after it was made.
var (
	alnum  = classOf("A-Za-z0-9")
	word   = classOf("A-Za-z0-9_")
	url64  = classOf("A-Za-z0-9_-")
	dotted = classOf("A-Za-z0-9_.-")
	base64 = classOf("A-Za-z0-9+/=_-")
	lowHex = classOf("0-9a-f")
	hexa   = classOf("0-9a-fA-F")
	upper  = classOf("A-Z0-9")
)

// alphabets are the names that the table of shapes has for them.
var alphabets = map[string]*class{
	"alnum": alnum, "word": word, "url64": url64, "dotted": dotted, "base64": base64, "lowHex": lowHex, "hexa": hexa, "upper": upper,
	"path": classOf("A-Za-z0-9/"), "pathWord": classOf("A-Za-z0-9/_-"), "escaped": classOf("A-Za-z0-9%/+=_-"),
}

//go:embed shapes.txt
var shapeTable string

// shapes is the table of tokens that say by themselves what they are. It is
// read at the first use.
var shapes = sync.OnceValue(func() (list []shape) {
	for line := range strings.Lines(shapeTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var sh shape
		var alphabet string
		_, err := fmt.Sscan(line, &sh.kind, &sh.prefix, &alphabet, &sh.min, &sh.max, &sh.edge)
		if sh.body = alphabets[alphabet]; err != nil || sh.body == nil {
			panic("redact: a row of shapes.txt that cannot be read: " + line) // it is compiled in
		}
		list = append(list, sh)
	}
	return list
})

func shapeRules() []rule {
	var rules []rule
	for _, sh := range shapes() {
		rules = append(rules, rule{sh.prefix, true, sh.match})
	}
	return rules
}

func (sh shape) match(s *scan, at, after int) (span, bool) {
	if sh.edge && !border(s.src, at) {
		return span{}, false
	}
	end := s.run(after, sh.body)
	body := s.src[after:end]
	if sh.max > 0 && len(body) > sh.max {
		return span{}, false
	}
	if sh.edge && end < len(s.src) && base64[s.src[end]] && sh.max > 0 {
		return span{}, false
	}
	for len(body) > 0 && (body[len(body)-1] == '.' || body[len(body)-1] == '-' || body[len(body)-1] == '/') {
		body, end = body[:len(body)-1], end-1 // the end of a sentence
	}
	if len(body) < sh.min || !varied(body) {
		return span{}, false
	}
	return span{at, end, sh.kind, rankShape}, true
}

// run is where the bytes of c that begin at i end.
func run(src []byte, i int, c *class) int {
	for i < len(src) && c[src[i]] {
		i++
	}
	return i
}

// stretch is a run that was measured.
type stretch struct {
	class      *class
	start, end int
}

// run is the function run with a memory: a text that repeats an anchor within
// one long run would else be measured from each of them to its end.
func (s *scan) run(i int, c *class) int {
	const worth = 256
	for k := range s.runs {
		if m := &s.runs[k]; m.class == c && m.start <= i && i < m.end {
			return m.end
		}
	}
	end := run(s.src, i, c)
	if end-i > worth {
		s.runs[s.oldest] = stretch{c, i, end}
		s.oldest = (s.oldest + 1) % len(s.runs)
	}
	return end
}

// runBack is where the bytes of c that end before i begin, at most limit back.
func runBack(src []byte, i, limit int, c *class) int {
	start := i
	for i > 0 && start-i < limit && c[src[i-1]] {
		i--
	}
	return i
}

// border says whether a word can begin at i: nothing that belongs to a word
// stands before it. The letters of an escape sequence (\n, \u003d), of a
// percent-encoding (%3D) and of a colour (ESC [0m) do not belong to a word.
func border(src []byte, i int) bool {
	if i == 0 || !word[src[i-1]] {
		return true
	}
	p := i - 1
	if p >= 1 && src[p-1] == '\\' && strings.IndexByte("nrtbf", src[p]) >= 0 {
		return true
	}
	if p >= 2 && src[p-2] == '%' && hexa[src[p]] && hexa[src[p-1]] {
		return true
	}
	if p >= 5 && src[p-5] == '\\' && src[p-4] == 'u' && hexa[src[p]] && hexa[src[p-1]] && hexa[src[p-2]] && hexa[src[p-3]] {
		return true
	}
	if src[p] == 'm' {
		j := p
		for j > 0 && p-j < 12 && (isDigit(src[j-1]) || src[j-1] == ';') {
			j--
		}
		return j > 0 && src[j-1] == '['
	}
	return false
}
