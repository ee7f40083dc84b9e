package profile

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Origin says where a pack comes from.
type Origin string

const (
	FromProject Origin = "project"
	fromUser    Origin = "user"
	FromBuiltin Origin = "builtin"
	FromPath    Origin = "path"
)

// Pack is a set of profiles of one theme, with what is wrong with it.
type Pack struct {
	Name     string // the directory's name: hundred-acre-wood
	Theme    string // the natural form: Hundred Acre Wood
	Origin   Origin
	Where    string     // directory or archive; for a built-in its name
	Profiles []*Profile // in the order of the cast; those that could be read
	Faults   []Fault    // sorted; a pack with faults is not installed
}

// Profile returns the pack's profile of an archetype, or nil.
func (p *Pack) Profile(id string) *Profile {
	for _, q := range p.Profiles {
		if q.Archetype == id {
			return q
		}
	}
	return nil
}

// files is what a pack was read from: the name of the pack, its Markdown files
// by name, and the faults found on the way.
type files struct {
	name   string
	where  string // how faults name the directory or the archive
	inside string // joins where and a file's name: "/", or "!/" and a directory
	data   map[string][]byte
	faults []Fault
}

func (f *files) fault(file string, rule, message, fix string) {
	f.faults = append(f.faults, Fault{file, 1, rule, message, fix})
}

func (f *files) path(name string) string {
	if f.inside == "/" {
		return path.Join(f.where, name)
	}
	return f.where + f.inside + name
}

// newPack parses and checks what was read.
func newPack(f *files, origin Origin) *Pack {
	p := &Pack{Name: f.name, Origin: origin, Where: f.where, Faults: f.faults}
	if len(f.faults) == 0 {
		p.parse(f)
	}
	sortFaults(p.Faults)
	return p
}

func (p *Pack) parse(f *files) {
	if Slug(f.name) != f.name {
		p.fault(f.where, 1, "pack-name", fmt.Sprintf("pack %q is not lower case with hyphens", f.name), "rename it to "+
			cmp.Or(Slug(f.name), "a word"))
	}
	names := slices.Sorted(maps.Keys(f.data))
	for _, a := range cast[:packSize] {
		if _, ok := f.data[a.ID+".md"]; !ok && !hasStray(names, a.ID+".md") {
			p.fault(f.path(a.ID+".md"), 1, "pack-incomplete", "the pack has no profile for the "+a.ID, "add "+a.ID+".md; a pack dresses all nine")
		}
	}
	byArchetype := map[string]*Profile{}
	for _, name := range names {
		id := strings.TrimSuffix(name, ".md")
		if a, ok := Lookup(id); !ok || !a.inPack() {
			p.stray(f, name)
			continue
		}
		q, faults := Parse(f.path(name), f.data[name])
		p.Faults = append(p.Faults, faults...)
		if q != nil {
			byArchetype[id] = q
		}
	}
	for _, a := range cast[:packSize] {
		if q := byArchetype[a.ID]; q != nil {
			p.Profiles = append(p.Profiles, q)
		}
	}
	p.checkCoherence()
}

func (p *Pack) fault(file string, line int, rule, message, fix string) {
	p.Faults = append(p.Faults, Fault{file, max(line, 1), rule, message, fix})
}

// hasStray finds a file that is a profile but for the letter case of its name.
func hasStray(names []string, want string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, want) })
}

// companions are the Markdown files that may lie beside the nine.
var companions = []string{"readme.md", "license.md", "licence.md", "contributing.md", "changelog.md", "notice.md"}

func (p *Pack) stray(f *files, name string) {
	lower := strings.ToLower(name)
	id := strings.TrimSuffix(lower, ".md")
	a, known := Lookup(id)
	switch {
	case slices.Contains(companions, lower):
	case known && !a.inPack():
		p.fault(f.path(name), 1, "pack-stray", id+" is in no pack", "move it to .campaign/profiles/"+id+".md of the project that wants it")
	case known:
		p.fault(f.path(name), 1, "pack-file-name", name+" is not written like its archetype", "rename it to "+lower)
	default:
		p.fault(f.path(name), 1, "pack-stray", name+" belongs to none of the nine", "rename it to the archetype it dresses, or remove it")
	}
}

// checkCoherence holds the profiles against each other: one theme, the
// directory's; no two names alike; no two texts alike; current format.
func (p *Pack) checkCoherence() {
	p.checkThemes()
	names := map[string]*Profile{}
	for _, q := range p.Profiles {
		if q.legacy {
			p.fault(q.file, 1, "pack-legacy", "profile is written to version 1.0 of the format",
				"use archetype, skin-name and theme; packs are in the current form")
		}
		key := likeness(q.SkinName)
		if first := names[key]; first != nil && key != "" {
			p.fault(q.file, q.line("skin-name"), "pack-skin-alike", fmt.Sprintf("skin name %q is too like %q of %s", q.SkinName,
				first.SkinName, first.Archetype), "give each character a name of its own")
			continue
		}
		names[key] = q
	}
	p.checkTexts()
}

// checkThemes wants one theme, written alike in all nine, that comes down to the
// directory's name. The pack's own is the one that most of them have.
func (p *Pack) checkThemes() {
	count := map[string]int{}
	for _, q := range p.Profiles {
		if Slug(q.Theme) == p.Name {
			if count[q.Theme]++; count[q.Theme] > count[p.Theme] {
				p.Theme = q.Theme
			}
		}
	}
	for _, q := range p.Profiles {
		switch slug := Slug(q.Theme); {
		case slug == "": // reported by Parse
		case slug != p.Name:
			p.fault(q.file, q.line("theme"), "pack-theme", fmt.Sprintf("theme %q does not match the pack %s", q.Theme, p.Name),
				"write the pack's name in its natural form, or rename the pack to "+slug)
		case q.Theme != p.Theme:
			p.fault(q.file, q.line("theme"), "pack-theme", fmt.Sprintf("theme %q is not written like the others' %q",
				q.Theme, p.Theme), "write the theme in one way in all nine")
		}
	}
}

// line is where a key of the front matter stands.
func (p *Profile) line(key string) int {
	f, _ := p.doc.Field(key)
	return max(f.Line, 1)
}

// likeness reduces a skin name to what tells it apart when heard.
func likeness(name string) string {
	slug := Slug(name)
	for _, article := range []string{"the-", "a-", "an-"} {
		slug = strings.TrimPrefix(slug, article)
	}
	return strings.ReplaceAll(slug, "-", "")
}

// checkTexts finds prose that two profiles share: characters copied from one
// another are too similar, whatever their names.
func (p *Pack) checkTexts() {
	type text struct {
		of       *Profile
		shingles map[string]bool
	}
	var all []text
	for _, q := range p.Profiles {
		t := text{q, shingles(q.Concept + " " + q.Voice)}
		for _, other := range all {
			if share(t.shingles, other.shingles) >= 0.5 {
				p.fault(q.file, 1, "pack-text-alike", fmt.Sprintf("the text is for the most part that of %s", other.of.Archetype),
					"write the character afresh from its own archetype")
				break
			}
		}
		all = append(all, t)
	}
}

// shingles are the runs of four words of a text.
func shingles(text string) map[string]bool {
	words := strings.Fields(flatten(withoutComments(text)))
	set := map[string]bool{}
	for i := 0; i+4 <= len(words); i++ {
		set[strings.Join(words[i:i+4], " ")] = true
	}
	return set
}

func share(a, b map[string]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 12 {
		return 0 // too short to tell
	}
	n := 0
	for s := range a {
		if b[s] {
			n++
		}
	}
	return float64(n) / float64(len(a))
}
