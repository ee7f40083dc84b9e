package story

import (
	_ "embed"
	"html/template"
	"regexp"
	"strings"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("story").Parse(pageHTML))

// block is a heading, a paragraph or a quotation of the page.
type block struct {
	Level int // of a heading
	Title string
	Quote bool
	Text  template.HTML
}

// HTML turns the Markdown that Story and PlayLog write into one page that
// needs nothing else.
func HTML(title, markdown string) string {
	var blocks []block
	for para := range strings.SplitSeq(markdown, "\n\n") {
		para = strings.TrimSpace(para)
		for line := range strings.SplitSeq(para, "\n") {
			if level := heading(line); level > 0 {
				blocks = append(blocks, block{Level: level, Title: strings.TrimSpace(line[level:])})
				para = strings.TrimSpace(strings.Replace(para, line, "", 1))
			}
		}
		if para == "" {
			continue
		}
		text, quoted := strings.CutPrefix(para, "> ")
		blocks = append(blocks, block{Quote: quoted, Text: emphasised(text)})
	}
	var b strings.Builder
	_ = pageTemplate.Execute(&b, struct { // a Builder takes everything
		Title  string
		Blocks []block
	}{title, blocks})
	return b.String()
}

var (
	strong   = regexp.MustCompile(`\*\*(\S|\S[^*\n]*\S)\*\*`)
	emphasis = regexp.MustCompile(`\*(\S|\S[^*\n]*\S)\*`)
)

// emphasised escapes a text and then turns the stars of Markdown, and the ends of
// its lines, into the only tags that a text can have.
func emphasised(text string) template.HTML {
	text = strong.ReplaceAllString(template.HTMLEscapeString(text), "<strong>$1</strong>")
	text = emphasis.ReplaceAllString(text, "<em>$1</em>")
	return template.HTML(strings.ReplaceAll(text, "\n", "<br>\n"))
}

func heading(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 6 || len(line) == n || line[n] != ' ' {
		return 0
	}
	return n
}
