package receipt

import (
	"conclave/gate"
)

// Found is the work as it lies here: what the names of the work stand for, and
// how many lines its texts have.
type Found struct {
	Where string
	Files []File
	Lines map[string]int
	// Modes: this system knows which files are executable.
	Modes bool
	// Problems are why something of it could not be taken.
	Problems []string
}

// FileOf is a file of the work with this text.
func FileOf(path string, text []byte, executable bool) File {
	return File{Path: path, Size: int64(len(text)), SHA256: gate.SHA256(text), Executable: executable}
}

// Cited are the paths that citations point to.
func (b *Body) Cited() map[string]bool {
	cited := map[string]bool{}
	for _, j := range b.Judges {
		for _, f := range j.Findings {
			for _, at := range f.Citations {
				cited[at.Path] = true
			}
		}
	}
	return cited
}

// work: every file of the list is here, with these bytes, and no other that would
// have been judged.
func (c *checker) work(found *Found) {
	if found == nil {
		c.open("work", "whether you have what was judged was not looked at: say where it lies (--work)")
		return
	}
	for _, p := range found.Problems {
		c.find("work", "%s: %s", found.Where, p)
	}
	if len(found.Problems) > 0 {
		return
	}
	if len(c.b.Case.Work.Names) == 0 {
		c.open("work", "by which names it was found is not said: files that came to it would not be noticed")
	}
	here := map[string]File{}
	for _, f := range found.Files {
		here[f.Path] = f
	}
	good := c.clean(func() {
		for _, want := range c.b.Case.Work.Files {
			got, ok := here[want.Path]
			switch {
			case !ok:
				c.find("work", "%s was judged, and is not in %s", want.Path, found.Where)
			case got.Size != want.Size || got.SHA256 != want.SHA256:
				c.find("work", "%s is not as it was judged", want.Path)
			case found.Modes && got.Executable != want.Executable:
				c.find("work", "%s is not executable, or is, as it was not when it was judged", want.Path)
			}
			delete(here, want.Path)
		}
		for _, f := range found.Files {
			if _, extra := here[f.Path]; extra {
				c.find("work", "%s is in %s, and was not when the work was judged", f.Path, found.Where)
			}
		}
		c.citedLines(found)
	})
	if good {
		c.show("work", "what lies in %s is what is listed: %s, to the byte", found.Where, many(len(found.Files), "file", "files"))
	}
	if c.b.Case.Work.Diff != nil {
		c.open("work", "the text of the change was not held against anything: a directory does not have it")
	}
}

// citedLines looks the citations up again.
func (c *checker) citedLines(found *Found) {
	n := 0
	for _, j := range c.b.Judges {
		for _, f := range j.Findings {
			for _, at := range f.Citations {
				lines, known := found.Lines[at.Path]
				if !at.OK || !known {
					continue
				}
				if n++; max(at.Line, at.EndLine) > lines {
					c.find("work", "%q is cited, and the file has %d lines", at.Text, lines)
				}
			}
		}
	}
	if n > 0 {
		c.show("work", "%s in it", many(n, "place that the judges cite is", "places that the judges cite are"))
	}
}
