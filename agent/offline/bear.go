package offline

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

func bear() animal {
	return animal{
		name:    "bear",
		opening: "I have no model behind me: I look, I do not reason. This is what I can see of where the work is going.",
		nothing: "I looked for what this is for and found no file that says it. I have nothing true to add.",
		probes: []probe{
			{name: "direction", kinds: []kind{doc}, words: []string{"oadmap", "goal", "aims to", "lanned", "uture work", "vision", "not intended", "ut of scope", "non-goal"},
				ok: matches(`(?i)\b(roadmap|(non-)?goals?|aims to|is planned|planned for|future work|vision|not intended|out of scope)\b`)},
			{name: "deprecated", kinds: []kind{code}, words: []string{"Deprecated", "@deprecated", "DEPRECATED"}, ok: func(l string) bool { return !inCode(l) || strings.Contains(l, "@") }},
			{name: "main", kinds: []kind{code}, langs: []string{"Go"}, words: []string{"func main()"}, ok: matches(`^func main\(\)`)},
			{name: "main", kinds: []kind{code}, langs: []string{"Python"}, words: []string{"__main__"}, ok: matches(`^if __name__ ==`)},
			{name: "main", kinds: []kind{code}, langs: []string{"Rust"}, words: []string{"fn main()"}, ok: matches(`^(pub )?(async )?fn main\(\)`)},
			{name: "main", kinds: []kind{code}, langs: []string{"C", "C++"}, words: []string{"int main("}, ok: matches(`^int main\(`)},
			{name: "main", kinds: []kind{code}, langs: []string{"Java"}, words: []string{"void main("}, ok: matches(`public static void main\(`)},
			{name: "public", kinds: []kind{code}, langs: goCode, words: []string{"func "}, ok: exportedFunc},
			{name: "public", kinds: []kind{code}, langs: []string{"Rust"}, words: []string{"pub fn "}, ok: matches(`^\s*pub fn`)},
			{name: "public", kinds: []kind{code}, langs: []string{"JavaScript", "TypeScript"}, words: []string{"export "}, ok: matches(`^export `)},
			{name: "about", kinds: []kind{code}, langs: []string{"Go"}, words: []string{"// Package ", "Package "}, ok: matches(`^(// |/\*\s*)?Package \w+ \w+`)},
		},
		look: func(s *survey) []observation {
			return slices.Concat(s.purpose(), s.mass(), s.questWords(), s.directions(), s.entries(), s.deprecations(), s.abouts(), s.surface())
		},
	}
}

// exportedFunc is true of the first line of an exported function or method. It
// is asked for every function of a tree, so it goes without an expression.
func exportedFunc(line string) bool {
	name, ok := strings.CutPrefix(line, "func ")
	if strings.HasPrefix(name, "(") {
		_, name, ok = strings.Cut(name, ") ")
	}
	return ok && name != "" && name[0] >= 'A' && name[0] <= 'Z'
}

// readme is the README that lies highest.
func (s *survey) readme() *file {
	var best *file
	for _, f := range s.files {
		base := strings.ToLower(path.Base(f.path))
		if strings.HasPrefix(base, "readme") && f.kind == doc && (best == nil || strings.Count(f.path, "/") < strings.Count(best.path, "/")) {
			best = f
		}
	}
	return best
}

var notProse = regexp.MustCompile(`^(#|=|-{3}|\[!\[|!\[|<|>|\||\[[^\]]+\](\(|:)|\*\s|-\s|\+\s|\d+\.|` + "```" + `|\.\. )`)

// prose is the first line of a document that is a sentence.
func prose(text string) hit {
	fenced := false
	for n, line := range numbered(text) {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "```") {
			fenced = !fenced
			continue
		}
		if fenced || len(strings.Fields(t)) < 4 || notProse.MatchString(t) || quote(line) == "" || len(strings.Fields(quote(line))) < 4 {
			continue
		}
		return hit{line: n, text: line}
	}
	return hit{}
}

func (s *survey) purpose() []observation {
	f := s.readme()
	if f == nil {
		code := s.of(code)
		if len(code) == 0 {
			return nil
		}
		return []observation{observe("Write the one sentence that says what this is for, in a README, before anything else.",
			"Among %s there is no README. A stranger begins at %s and has to work out the end from there.", count(len(s.files), "file"), code[0].top())}
	}
	says := prose(s.texts[f.path])
	if says.line == 0 {
		return nil
	}
	return []observation{observe("Hold the next change against "+f.at(says).place()+" and say which words of it the change serves.",
		"The end comes first: %s. That is the promise a newcomer reads; what does not serve it is somebody else's project.", f.at(says))}
}

// place is a citation without its quotation.
func (c cite) place() string { return cite{path: c.path, line: c.line}.String() }

// mass compares where the lines are with what the README speaks of.
func (s *survey) mass() []observation {
	total, by := 0, map[string]int{}
	for _, f := range s.of(code) {
		top, _, deep := strings.Cut(f.path, "/")
		if !deep {
			top = "."
		}
		by[top] += f.lines
		total += f.lines
	}
	if total == 0 {
		return nil
	}
	dir := ranked(by)[0]
	var big *file
	for _, f := range s.of(code) {
		if (f.path == f.dir+"/"+path.Base(f.path) || dir.name == ".") && (dir.name == "." && f.dir == "." || strings.HasPrefix(f.path, dir.name+"/")) && (big == nil || f.lines > big.lines) {
			big = f
		}
	}
	word, shown := strings.TrimSuffix(path.Base(big.path), path.Ext(big.path)), "`"+dir.name+"/`"
	if dir.name == "." {
		shown = "the top directory"
	} else {
		word = dir.name
	}
	text := "The weight lies in %s: %d of %d lines of code (%d %%), the heaviest file ends at %s."
	args := []any{shown, dir.n, total, percent(dir.n, total), big.end()}
	if f := s.readme(); f != nil {
		if h := lineWith(s.texts[f.path], word); h.line > 0 && quote(h.text) != "" {
			text += " The README speaks of “" + word + "” at %s."
			args = append(args, f.at(h))
		} else if h.line == 0 {
			text += " The README, which ends at %s, never says “" + word + "”: either it is plumbing, or the promise and the work have parted."
			args = append(args, f.end())
		}
	}
	return []observation{observe("Ask whether `"+big.path+"` is what this project wants to be known for.", text, args...)}
}

// lineWith finds the first line that holds a word, whatever its case.
func lineWith(text, word string) hit {
	re, err := regexp.Compile(`(?i)(^|[^\pL\pN])` + regexp.QuoteMeta(word) + `($|[^\pL\pN])`)
	if err != nil {
		return hit{}
	}
	return lineWhere(text, re.MatchString)
}

// questWords says which criteria have left no word in the README.
func (s *survey) questWords() []observation {
	f := s.readme()
	if f == nil || len(s.quest) == 0 {
		return nil
	}
	for _, c := range s.quest {
		for _, w := range searchWords(c.text) {
			if h := lineWith(s.texts[f.path], w); h.line > 0 && quote(h.text) != "" {
				return []observation{observe("Read criterion "+number(c.number)+" and that line side by side.",
					"The quest and the project meet: criterion %d (%s) says “%s”, and so does %s.", c.number, c.cite(), w, f.at(h))}
			}
		}
	}
	c := s.quest[0]
	return []observation{observe("Say in the README, or in the criterion, how the one serves the other.",
		"The quest's first criterion, %s, shares no word with the README, which ends at %s.", c.cite(), f.end())}
}

func (s *survey) directions() []observation {
	n, files, at := 0, 0, where{}
	for _, f := range s.of(doc) {
		got := f.found["direction"]
		if got == nil || strings.HasPrefix(strings.ToUpper(path.Base(f.path)), "LICEN") || strings.HasPrefix(f.path, "COPYING") {
			continue
		}
		n, files = n+got.n, files+1
		if at.f == nil && got.hits[0].quote() != "" {
			at = where{f, got.hits[0]}
		}
	}
	if at.f == nil {
		return nil
	}
	return []observation{observe("Decide whether "+at.cite().place()+" still holds, and write the date of that decision beside it.",
		"Direction is spoken of in %s of %s; the first place to read is %s.", count(n, "line"), count(files, "document"), at.cite())}
}

func (s *survey) entries() []observation {
	n, _, at := s.met("main", nil, code)
	if at.f == nil {
		return nil
	}
	return []observation{observe("", "What a stranger can start: %s, the first at %s. The rest is reached through that, or by those who build on it.", count(n, "entry point"), at.cite())}
}

func (s *survey) deprecations() []observation {
	return s.tell("deprecated", nil, "mark", "file", "Name the version in which %s goes, or take the mark away.",
		"Doors that are being closed: %s in %s marked as deprecated, the first %s. I see that it was decided, not whether anyone still stands in the door.")
}

// was is a number with its noun and the verb.
func was(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return count(n, noun) + " are"
}

func (s *survey) abouts() []observation {
	n, _, at := s.met("about", func(w where) int { return strings.Count(w.f.path, "/") })
	if at.f == nil {
		return nil
	}
	dirs := map[string]bool{}
	for _, f := range s.of(code) {
		if f.lang == "Go" {
			dirs[f.dir] = true
		}
	}
	return []observation{observe("", "The code says of itself, at %s, what it is; package comments of that form stand in %s, code that people wrote in %s.",
		at.cite(), count(n, "place"), count(len(dirs), "directory"))}
}

// surface is what others can call, and so what cannot change quietly.
func (s *survey) surface() []observation {
	n, files, _ := s.met("public", nil)
	var most *file
	for _, f := range s.of(code) {
		if got := f.found["public"]; got != nil && (most == nil || got.n > most.found["public"].n) {
			most = f
		}
	}
	if most == nil || most.found["public"].hits[0].quote() == "" {
		return nil
	}
	return []observation{observe("Mark the three names of `"+most.path+"` that must still be there in a year.",
		"What it offers to others: %s in %s; most of them, %d, in `%s`, beginning with %s. Each is a promise about direction.",
		count(n, "exported function"), count(files, "file"), most.found["public"].n, most.path, most.at(most.found["public"].hits[0]))}
}
