package table

import (
	"regexp"
	"strings"
)

var (
	gmTag     = regexp.MustCompile(`(?i)<!--\s*(/?)gm\s*-->`)
	secretTag = regexp.MustCompile(`(?i)<!--\s*(?:secret:\s*([a-z0-9][a-z0-9-]*)|(/)secret)\s*-->`)
)

// RemoveGM cuts <!-- gm -->…<!-- /gm --> out of a text. A region that is not
// closed goes on to the end: what is unclear is the GM's.
func RemoveGM(text string) string {
	return cutRegions(text, gmTag, func(m []string) bool { return m[1] == "/" })
}

// RemoveSecrets cuts <!-- secret:id -->…<!-- /secret --> out of a text, for
// files that everyone reads.
func RemoveSecrets(text string) string {
	return cutRegions(text, secretTag, func(m []string) bool { return m[2] == "/" })
}

func cutRegions(text string, tag *regexp.Regexp, closes func([]string) bool) string {
	var b strings.Builder
	at, depth := 0, 0
	for _, span := range tag.FindAllStringSubmatchIndex(text, -1) {
		if depth == 0 {
			b.WriteString(text[at:span[0]])
		}
		if !closes(groups(text, span)) {
			depth++
		} else if depth > 0 {
			depth--
		}
		at = span[1]
	}
	if depth == 0 {
		b.WriteString(text[at:])
	}
	return b.String()
}

func groups(text string, span []int) []string {
	out := make([]string, len(span)/2)
	for i := range out {
		if span[2*i] >= 0 {
			out[i] = text[span[2*i]:span[2*i+1]]
		}
	}
	return out
}

// Secret is a tagged region.
type Secret struct{ ID, Text string }

// Secrets lists the tagged regions of a text; inner ones are listed too.
func Secrets(text string) []Secret {
	var out []Secret
	type opened struct {
		id   string
		from int
	}
	var stack []opened
	end := func(to int) {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out = append(out, Secret{top.id, secretTag.ReplaceAllString(text[top.from:to], "")})
	}
	for _, span := range secretTag.FindAllStringSubmatchIndex(text, -1) {
		if g := groups(text, span); g[2] == "/" {
			if len(stack) > 0 {
				end(span[0])
			}
		} else {
			stack = append(stack, opened{strings.ToLower(g[1]), span[1]})
		}
	}
	for len(stack) > 0 {
		end(len(text))
	}
	return out
}
