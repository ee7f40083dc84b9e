package offline

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func rabbit() animal {
	return animal{
		name:    "rabbit",
		opening: "Quickly: no model behind me; I look, I do not reason. Counted, with names and numbers:",
		nothing: "Counted: no dependency, no owner, no licence and no name that I could find. Somebody should be asked.",
		probes: []probe{
			{name: "env", kinds: []kind{code}, langs: goCode, words: []string{"os.Getenv(", "os.LookupEnv("}, ok: inCode},
			{name: "env", kinds: []kind{code}, langs: []string{"Python"}, words: []string{"os.environ", "os.getenv("}, ok: inCode},
			{name: "env", kinds: []kind{code}, langs: []string{"JavaScript", "TypeScript"}, words: []string{"process.env."}, ok: inCode},
			{name: "env", kinds: []kind{code}, langs: []string{"Rust"}, words: []string{"env::var("}, ok: inCode},
		},
		look: func(s *survey) []observation {
			return slices.Concat(s.needs(), s.owners(), s.hands(), s.licence(), s.toolchain(), s.foreign(), s.environment(), s.guide())
		},
	}
}

func (s *survey) needs() []observation {
	all := s.dependencies()
	direct := directOnly(all)
	i := slices.IndexFunc(direct, func(d dependency) bool { return quote(d.line.text) != "" })
	if i < 0 {
		for _, f := range s.files {
			if manifest(path.Base(f.path)) != nil && f.lines > 0 && strings.Count(f.path, "/") <= 1 && quote(f.head.text) != "" {
				return []observation{observe("", "It needs nobody: `%s` (%s, begins %s) asks for no other module.", f.path, count(f.lines, "line"), f.top())}
			}
		}
		return nil
	}
	var names []string
	for _, d := range direct[:min(len(direct), 4)] {
		names = append(names, "`"+printable(d.name)+"`")
	}
	rest := ""
	if len(direct) > len(names) {
		rest = " and " + strconv.Itoa(len(direct)-len(names)) + " more"
	}
	return []observation{observe("Write beside each direct dependency who here would notice if it stopped.",
		"Listed as needed: %s by the project itself and %d marked as indirect: %s%s; the list starts at %s.",
		count(len(direct), "dependency"), len(all)-len(direct), strings.Join(names, ", "), rest, direct[i].cite())}
}

var ownersFile = regexp.MustCompile(`(^|/)(CODEOWNERS|MAINTAINERS|OWNERS|AUTHORS|CONTRIBUTORS)(\.\w+)?$`)

var ownerRow = regexp.MustCompile(`^[-*]\s*\S|@|<`)

func (s *survey) owners() []observation {
	for _, want := range []string{"CODEOWNERS", "MAINTAINERS", "OWNERS", "AUTHORS", "CONTRIBUTORS"} {
		for _, f := range s.files {
			if !ownersFile.MatchString(f.path) || !strings.Contains(path.Base(f.path), want) || f.kind == binary {
				continue
			}
			names, first := 0, hit{}
			for n, line := range numbered(s.texts[f.path]) {
				if t := strings.TrimSpace(line); t == "" || t[0] == '#' || strings.HasPrefix(t, "//") || !ownerRow.MatchString(t) {
					continue
				}
				names++
				if first.line == 0 && quote(line) != "" {
					first = hit{line: n, text: line}
				}
			}
			if first.line > 0 {
				return []observation{observe("Ask whoever stands at "+f.at(first).place()+" whether that is still right.",
					"Who has to be asked is written down: %s in `%s`, the first %s.", count(names, "entry"), f.path, f.at(first))}
			}
		}
	}
	return nil
}

func (s *survey) hands() []observation {
	authors := s.history.authors()
	if len(authors) == 0 || s.history[0].cite().quote == "" {
		return nil
	}
	var names []string
	for _, a := range authors[:min(3, len(authors))] {
		names = append(names, printable(a.name)+" ("+count(a.n, "commit")+")")
	}
	return []observation{observe("Tell the people in that list what is planned before it is decided.",
		"Hands on it: %s in %s: %s. The latest is %s.", count(len(authors), "author"), count(len(s.history), "commit"), strings.Join(names, ", "), s.history[0].cite())}
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)(-\w+)?(\.\w+)?$`)
	licenceName = regexp.MustCompile(`(?i)(MIT License|Apache License|Mozilla Public License|GNU (Lesser |Affero )?General Public License|BSD|ISC License|Redistribution and use|Permission is hereby granted|Permission to use|Unlicense|Creative Commons|Copyright)`)
)

func (s *survey) licence() []observation {
	for _, f := range s.files {
		if !licenceFile.MatchString(path.Base(f.path)) || strings.Count(f.path, "/") > 1 {
			continue
		}
		for n, line := range numbered(s.texts[f.path]) {
			if licenceName.MatchString(line) && quote(line) != "" {
				return []observation{observe("", "Others may use it on these terms: %s (%s in all, ending at %s).", f.at(hit{line: n, text: line}), count(f.lines, "line"), f.end())}
			}
		}
	}
	if len(s.of(code)) == 0 || s.readme() == nil {
		return nil
	}
	for _, f := range s.files {
		if licenceFile.MatchString(path.Base(f.path)) || strings.HasPrefix(strings.ToUpper(path.Base(f.path)), "LICEN") {
			return nil
		}
	}
	return []observation{observe("Ask the owner which licence was meant, and put it beside the README.",
		"Nobody outside may safely use it: among %s none is a licence; the place to begin reading is %s.", count(len(s.files), "file"), s.readme().top())}
}

var toolLine = []struct {
	file string
	line *regexp.Regexp
}{
	{"go.mod", regexp.MustCompile(`^go \d`)},
	{"package.json", regexp.MustCompile(`^\s*"node"\s*:`)},
	{"pyproject.toml", regexp.MustCompile(`^(requires-python|python)\s*=`)},
	{"Cargo.toml", regexp.MustCompile(`^(rust-version|edition)\s*=`)},
	{"pom.xml", regexp.MustCompile(`<(maven\.compiler\.(source|release)|java\.version)>`)},
}

func (s *survey) toolchain() []observation {
	for _, f := range s.of(config) {
		for _, t := range toolLine {
			if path.Base(f.path) != t.file || strings.Count(f.path, "/") > 1 {
				continue
			}
			for n, line := range numbered(s.texts[f.path]) {
				if t.line.MatchString(line) && quote(line) != "" {
					langs := map[string]int{}
					for _, c := range s.of(code, test) {
						langs[c.lang]++
					}
					top := ranked(langs)
					if len(top) == 0 {
						return nil
					}
					return []observation{observe("", "Tools it wants: %s, for %s in %s (mostly %s).",
						f.at(hit{line: n, text: line}), count(len(s.of(code, test)), "source file"), count(len(langs), "language"), top[0].name)}
				}
			}
		}
	}
	return nil
}

// foreign counts what programs wrote or others own.
func (s *survey) foreign() []observation {
	var first *file
	n, size := 0, int64(0)
	for _, f := range s.of(generated) {
		if f.lang == "" {
			continue
		}
		n++
		size += f.size
		if first == nil && f.head.line > 0 && quote(f.head.text) != "" {
			first = f
		}
	}
	if first == nil {
		return nil
	}
	return []observation{observe("Write down which command makes `"+first.path+"` and who may run it.",
		"%s written by programs, %d KiB; I have not judged them. The first begins at %s.", was(n, "source file"), size>>10, first.top())}
}

func (s *survey) environment() []observation {
	return s.tell("env", nil, "line", "file", "List in the README which variables have to be set, beginning with %s.",
		"It asks its surroundings for something in %s of %s, first at %s.")
}

func (s *survey) guide() []observation {
	for _, f := range s.of(doc) {
		if !strings.HasPrefix(strings.ToUpper(path.Base(f.path)), "CONTRIBUTING") {
			continue
		}
		if h := prose(s.texts[f.path]); h.line > 0 {
			return []observation{observe("", "Newcomers are told what it takes, in %s: %s.", count(f.lines, "line"), f.at(h))}
		}
	}
	return nil
}
