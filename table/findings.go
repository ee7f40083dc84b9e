package table

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"conclave/internal/markdown"
	"conclave/policy"
)

// Finding is something about secrets in the files of a campaign that its GM has
// to put right.
type Finding struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text) }

// Findings looks through the text files of a campaign: for tags that are not
// clear, and for tagged secrets that also stand, word for word, where others
// read them. No guard can keep what a granted file says.
func (c *Campaign) Findings(caps Caps) ([]Finding, error) {
	var files []taggedFile
	err := walk(c.Root, "", 0, func(d *Dir, info fs.FileInfo, p string) {
		if Classify(p).Kind == KindHidden || strings.HasPrefix(p, "tmp/") || path.Ext(p) != ".md" && path.Ext(p) != ".txt" {
			return
		}
		data, err := d.Read(info.Name(), caps.WithDefaults().PartyKnowledge)
		if err != nil {
			return // the watch says which files are not guarded, and why
		}
		files = append(files, taggedFile{p, readMarkup(markdown.Clean(string(data)))})
	})
	var out []Finding
	for _, f := range files {
		for _, d := range f.doubts {
			out = append(out, Finding{f.path, d.Line,
				fmt.Sprintf("%q %s; what it begins is read by nobody but the game master", d.Tag, d.Why)})
		}
	}
	for _, f := range files {
		out = append(out, f.exposed(files)...)
	}
	return out, err
}

type taggedFile struct {
	path string
	*markup
}

// readers says who reads a file, "" for nobody but the GM.
func (f taggedFile) readers() string {
	class := Classify(f.path)
	switch {
	case Reader{Role: policy.Player}.May(f.path), Reader{Role: policy.Spectator}.May(f.path),
		class.Kind == kindScene: // the public story
		return "everybody"
	case class.Kind == KindSheet:
		return class.Character
	}
	return ""
}

// exposed finds secrets in what the readers of a file see, outside of the tags.
// The secrets of a sheet are its owner's.
func (f taggedFile) exposed(files []taggedFile) []Finding {
	readers := f.readers()
	if readers == "" {
		return nil
	}
	var out []Finding
	said := map[string]bool{} // the same secret may be tagged in several files
	seen := f.blanked()
	w := words(seen)
	for _, from := range files {
		if from.path == f.path && readers != "everybody" {
			continue
		}
		for _, s := range guardSecrets(from.text) {
			for i := 0; s.n > 0 && i+s.n <= len(w) && !said[s.id]; i++ {
				if said[s.id] = s.runs[hashWords(w[i:i+s.n])]; said[s.id] {
					text := fmt.Sprintf("secret %s of %s stands here, where %s reads it: %q",
						s.id, from.path, readers, Clip(strings.Join(w[i:i+s.n], " "), 120))
					out = append(out, Finding{f.path, lineOf(seen, i), text})
				}
			}
		}
	}
	return out
}

// blanked is what everybody would see of the text, on the lines where it stands.
func (m *markup) blanked() string {
	b := []byte(m.text)
	for _, r := range m.hidden(false) {
		for i := r.from; i < r.to; i++ {
			if b[i] != '\n' {
				b[i] = ' '
			}
		}
	}
	return string(b)
}

// lineOf is the line on which the n-th word of a text stands.
func lineOf(text string, n int) int {
	line := 1
	for l := range strings.Lines(text) {
		if n -= len(words(l)); n < 0 {
			break
		}
		line++
	}
	return line
}
