package screen

import (
	"regexp"
	"strings"
)

// Marks of emphasis: two stars, one star, an underscore. They open before a word
// and close behind one, in one line; elsewhere they are what they are.
var emphases = []struct {
	marks *regexp.Regexp
	code  string
}{
	{regexp.MustCompile(`\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*`), bold},
	{regexp.MustCompile(`(^|[^\pL\pN*\\])\*([^\s*](?:[^*\n]*[^\s*])?)\*`), italic},
	{regexp.MustCompile(`(^|[^\pL\pN_\\])_([^\s_](?:[^_\n]*[^\s_])?)_`), italic},
}

var headingMark = regexp.MustCompile(`^ {0,3}#{1,6} +(.*?)(?: +#+)? *$`)

// Markdown is a block of foreign Markdown as people read it, indented: headings and
// what stands between ** are bold, what stands between * or _ is in italics. Where
// there are no colours, the marks are gone as well.
func Markdown(indent, text string) Text {
	lines := strings.Split(shown(filter{form: block, indent: indent}, text), "\n")
	for i, line := range lines {
		if m := headingMark.FindStringSubmatch(strings.TrimPrefix(line, indent)); m != nil {
			lead := ""
			if strings.HasPrefix(line, indent) && i > 0 {
				lead = indent
			}
			lines[i] = lead + bold + strings.ReplaceAll(m[1], "**", "") + reset
			continue
		}
		lines[i] = emphasised(line)
	}
	return Prose(indent, Text{strings.Join(lines, "\n")})
}

func emphasised(line string) string {
	line = emphases[0].marks.ReplaceAllString(line, bold+"$1"+reset)
	for _, e := range emphases[1:] {
		line = e.marks.ReplaceAllString(line, "${1}"+e.code+"${2}"+reset)
	}
	return line
}
