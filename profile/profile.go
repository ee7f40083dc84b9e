package profile

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"conclave/frontmatter"
)

// Depth says how far a profile reaches; it is inferred, never declared.
type Depth string

const (
	flavour  Depth = "flavour"  // presentation only
	Modifier Depth = "modifier" // tunes flex behaviours too
)

// maxProfile is the size of one profile. The longest worth reading has a tenth.
const maxProfile = 128 << 10

// Profile is one character: an archetype in a skin.
type Profile struct {
	file      string // as given to Parse
	Archetype string
	SkinName  string
	Theme     string
	Emoji     string // empty: the archetype's own
	Depth     Depth
	legacy    bool // written to version 1.0 of the format
	Concept   string
	Voice     string
	Modifiers string

	doc *frontmatter.Document
}

// Bytes returns the profile's file as it was read.
func (p *Profile) Bytes() []byte { return p.doc.Bytes() }

// Face is the archetype in this skin.
func (p *Profile) Face() Face {
	a, _ := Lookup(p.Archetype)
	return NewFace(a, p)
}

// Parse reads a profile and finds what is wrong with it. The file's name is part
// of the check (archetype = file name) and of every fault. A profile with faults
// is returned as far as it could be read; nil means that it could not.
func Parse(file string, data []byte) (*Profile, []Fault) {
	r := &reader{file: file}
	p := r.read(data)
	sortFaults(r.faults)
	return p, r.faults
}

// reader collects the faults of one file.
type reader struct {
	file   string
	doc    *frontmatter.Document
	faults []Fault
}

func (r *reader) fault(line int, rule, message, fix string) {
	r.faults = append(r.faults, Fault{r.file, max(line, 1), rule, message, fix})
}

func (r *reader) read(data []byte) *Profile {
	if len(data) > maxProfile {
		r.fault(1, "profile-size", fmt.Sprintf("profile is %d bytes long", len(data)), fmt.Sprintf("keep it under %d", maxProfile))
		return nil
	}
	if !utf8.Valid(data) {
		line := 1
		for i, c := range string(data) {
			if c == utf8.RuneError && !strings.HasPrefix(string(data[i:]), "\ufffd") {
				line += strings.Count(string(data[:i]), "\n")
				break
			}
		}
		r.fault(line, "profile-encoding", "profile is not UTF-8", "save it as UTF-8")
		return nil
	}
	doc, err := frontmatter.Parse(data)
	if e := (*frontmatter.Error)(nil); errors.As(err, &e) {
		r.fault(e.Line, "front-matter", fmt.Sprintf("column %d: %s", e.Column, e.Msg), "write plain key: value lines between two lines of ---")
		return nil
	}
	if !doc.HasHeader() {
		r.fault(1, "front-matter-missing", "profile has no front matter",
			"begin the file with a line ---, the keys archetype, skin-name and theme, and a line ---")
		return nil
	}
	r.doc = doc
	p := &Profile{file: r.file, Depth: flavour, doc: doc}
	r.readHeader(p)
	r.readSections(p)
	r.checkCore(p)
	return p
}

func (r *reader) readHeader(p *Profile) {
	for _, key := range []string{"archetype", "animal", "npc", "skin-name", "profile-name", "theme", "emoji"} {
		if f, ok := r.doc.Field(key); ok && !f.Scalar {
			r.fault(f.Line, "key-type", key+" is a list or a group of keys", "give it one text")
			return
		}
	}
	r.readArchetype(p)
	key := "skin-name"
	if _, ok := r.doc.Field(key); !ok {
		if _, old := r.doc.Field("profile-name"); old {
			key, p.legacy = "profile-name", true
		}
	}
	p.SkinName, _ = r.doc.Get(key)
	if section, ok := r.doc.Section("Name"); ok && p.legacy && p.SkinName == "" {
		p.SkinName = strings.TrimSpace(section.Body) // version 1.0 let an NPC's name stand only there
	}
	if f, ok := r.doc.Field(key); !ok && p.SkinName == "" {
		r.fault(1, "skin-name-missing", "skin-name is missing", "add skin-name: \"…\" to the front matter")
	} else if bad := checkName("skin-name", p.SkinName); bad != nil {
		r.fault(f.Line, bad.rule, bad.message, bad.fix)
	}
	r.readTheme(p)
	if f, ok := r.doc.Field("emoji"); ok {
		p.Emoji = f.Value
		if bad := checkEmoji(f.Value); bad != nil {
			r.fault(f.Line, bad.rule, bad.message, bad.fix)
		}
	}
}

func (r *reader) readTheme(p *Profile) {
	f, ok := r.doc.Field("theme")
	p.Theme = f.Value
	if !ok {
		if !p.legacy {
			r.fault(1, "theme-missing", "theme is missing", "add theme: \"…\" to the front matter")
		}
		return
	}
	if bad := checkName("theme", f.Value); bad != nil {
		r.fault(f.Line, bad.rule, bad.message, bad.fix)
	} else if Slug(f.Value) == "" {
		r.fault(f.Line, "theme-missing", "theme has no letter or digit", "write the theme's name")
	}
}

// readArchetype reads archetype, or animal and npc of version 1.0.
func (r *reader) readArchetype(p *Profile) {
	field, ok := r.doc.Field("archetype")
	p.Archetype = field.Value
	for _, key := range []string{"animal", "npc"} {
		f, old := r.doc.Field(key)
		id := strings.ToLower(f.Value)
		switch {
		case !old:
		case ok && id != p.Archetype:
			r.fault(f.Line, "archetype-twice", fmt.Sprintf("%s says %q and %s says %q", field.Key, field.Value, key, f.Value),
				"keep archetype alone")
		case !ok:
			field, ok, p.Archetype, p.legacy = f, true, id, true
			if a, known := Lookup(id); known && string(a.Kind) != key {
				r.fault(f.Line, "archetype-kind", fmt.Sprintf("%s is no %s", id, key), "write archetype: "+id)
			}
		}
	}
	base := strings.TrimSuffix(path.Base(strings.ReplaceAll(r.file, `\`, "/")), ".md")
	_, known := Lookup(p.Archetype)
	switch {
	case !ok || p.Archetype == "":
		r.fault(field.Line, "archetype-missing", "archetype is missing", "add archetype: "+base+" to the front matter")
	case !known:
		r.fault(field.Line, "archetype-unknown", fmt.Sprintf("archetype %q is not of the cast", field.Value), "write one of "+castList())
	case p.Archetype != base:
		r.fault(field.Line, "archetype-file", fmt.Sprintf("archetype is %s but the file is %s.md", p.Archetype, base), "make the two agree")
	}
}

func castList() string {
	ids := make([]string, len(cast))
	for i, a := range cast {
		ids[i] = a.ID
	}
	return strings.Join(ids, ", ")
}
