package export

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"

	"conclave/archive"
	"conclave/transcript"
)

//go:embed page.css
var css string

// page writes one page of HTML that needs nothing else: long things are folded
// with the browser's own means.
type page struct {
	out    *bufio.Writer
	o      Options
	run    string
	opened bool
}

func (p *page) entry(e *archive.Entry) error {
	if !p.opened {
		p.open(e)
	}
	if e.Run != p.run {
		if p.run != "" {
			fmt.Fprintln(p.out, "</section>")
		}
		p.run = e.Run
		fmt.Fprintf(p.out, "<section id=\"%s\">\n<h2>%s</h2>\n<p class=\"about\">%s · %s · %s</p>\n", esc(e.Run), esc(e.Run), esc(e.PromptName), esc(e.Adapter), esc(e.Project))
	}
	class := string(e.Type)
	if e.Failed {
		class += " failed"
	}
	if e.Source != transcript.Main {
		class += " sub"
	}
	open, folded := "open", foldable(e.Type)
	if folded {
		open = ""
	}
	fmt.Fprintf(p.out, "<details class=\"%s\" id=\"%s-%s-%d\" %s><summary><b>%s</b> <span>%s #%d %s</span></summary>\n<pre>%s</pre></details>\n",
		esc(class), esc(e.Run), esc(e.Source), e.Sequence, open, esc(label(e)), esc(clock(e)), e.Sequence, esc(agent(e)), esc(cut(e, p.o)))
	return nil // the buffer keeps its error until it is flushed
}

func clock(e *archive.Entry) string {
	if stamp(e.Timestamp) == "" {
		return ""
	}
	return e.Timestamp.Format("2006-01-02 15:04:05")
}

func agent(e *archive.Entry) string {
	if e.Source == transcript.Main {
		return ""
	}
	return e.Source
}

func foldable(t transcript.Type) bool {
	return t != transcript.UserMessage && t != transcript.AssistantMessage && t != transcript.Error
}

func esc(s string) string { return html.EscapeString(s) }

func (p *page) open(e *archive.Entry) {
	p.opened = true
	title := p.o.Title
	if title == "" && e != nil {
		title = e.Run
	}
	fmt.Fprintf(p.out, `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title><style>%s</style></head><body>
<h1>%s</h1>
`, esc(title), css, esc(title))
}

func (p *page) close() error {
	if !p.opened {
		p.open(nil)
	}
	if p.run != "" {
		fmt.Fprintln(p.out, "</section>")
	}
	_, err := fmt.Fprintln(p.out, "</body></html>")
	return err
}
