package export

import (
	"bufio"
	_ "embed"
	"fmt"
	"html/template"

	"conclave/archive"
	"conclave/transcript"
)

//go:embed page.css
var css template.CSS

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// page writes one page of HTML that needs nothing else: long things are folded
// with the browser's own means.
type page struct {
	out    *bufio.Writer
	o      Options
	run    string
	opened bool
}

// shownEntry is an entry as the page has it.
type shownEntry struct {
	*archive.Entry
	Class, Label, Clock, Agent, Shown string

	Open bool // not folded
}

func (p *page) entry(e *archive.Entry) error {
	if err := p.open(e.Run); err != nil {
		return err
	}
	if e.Run != p.run {
		p.closeRun()
		p.run = e.Run
		if err := pageTemplate.ExecuteTemplate(p.out, "run", e); err != nil {
			return err
		}
	}
	class := string(e.Type)
	if e.Failed {
		class += " failed"
	}
	if e.Source != transcript.Main {
		class += " sub"
	}
	return pageTemplate.ExecuteTemplate(p.out, "entry", shownEntry{Entry: e, Class: class, Label: label(e),
		Clock: clock(e), Agent: agent(e), Shown: cut(e), Open: !foldable(e.Type)})
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

// open begins the page; run is the first one on it, if there is any.
func (p *page) open(run string) error {
	if p.opened {
		return nil
	}
	p.opened = true
	title := p.o.Title
	if title == "" {
		title = run
	}
	return pageTemplate.ExecuteTemplate(p.out, "head", struct {
		Title string
		CSS   template.CSS
	}{title, css})
}

func (p *page) closeRun() {
	if p.run != "" {
		fmt.Fprintln(p.out, "</section>")
	}
}

func (p *page) close() error {
	if err := p.open(""); err != nil {
		return err
	}
	p.closeRun()
	_, err := fmt.Fprintln(p.out, "</body></html>")
	return err
}
