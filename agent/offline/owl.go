package offline

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

// owl looks at dates, order and what machines are told to do.
func owl() animal {
	return animal{
		name:    "owl",
		opening: "First, so that it is said: I have no model behind me. I look, I do not reason.",
		nothing: "I looked for unticked tasks and notes whose day has passed, for steps that name what is not there " +
			"and for versions that contradict each other, and found nothing I could point at.",
		rules: []rule{
			deadSteps, olderMachine, readAsNumber, retiredImage, overdueNote, overdueVersion, overdueTask, wrongDay, twoDays,
			statedVersions, longSinceRelease, lowestUnchecked,
		},
	}
}

// deadSteps are steps of a pipeline, a Makefile, a Dockerfile or a package.json
// that ask for what is not there.
func deadSteps(s *sight) []finding {
	if s.published() {
		return nil
	}
	var all []command
	for _, f := range s.pipelines() {
		all = append(all, pipelineSteps(f)...)
	}
	all = append(all, s.recipes()...)
	for _, c := range all {
		subject, what := s.missing(c)
		if isPipeline(c.f) && checkedOut(c.f, "", c.n) {
			subject = "" // it may run in another repository's tree
		}
		if m := localAction.FindStringSubmatch(c.text); m != nil && s.IsDir(path.Dir(m[1])) && s.gone(m[1]) &&
			!checkedOut(c.f, path.Clean(m[1]), c.n) {
			subject, what = "`"+m[1]+"`", "there is no `"+m[1]+"` in the tree"
		}
		if m := copyLine.FindStringSubmatch(c.text); m != nil && isDockerfile(c.f) && path.Ext(m[1]) != "" && s.gone(m[1]) &&
			s.gone(path.Join(c.f.Dir, m[1])) && !strings.HasPrefix(m[1], "/") {
			subject, what = "`"+m[1]+"`", "there is no `"+m[1]+"` in the tree"
		}
		if subject != "" && citable(c.f.Path) {
			return []finding{found(subject, "A machine is told to run %s, and %s.", at(c.f, c.n), what).
				then("Correct "+at(c.f, c.n).place()+", or bring back what it calls.", costMinutes,
					"a build or a check that fails there").
				weighs(broken-4, "ci pipeline build process release")}
		}
	}
	return nil
}

var copyLine = pattern.New(`^COPY\s+(?:--ch\w+=\S+\s+)?([\w][\w./-]*)\s+\S+\s*$`)

// recipes are the lines of Makefiles, Dockerfiles and package.json files that
// something runs.
func (s *sight) recipes() []command {
	var out []command
	for _, f := range s.own(project.Config) {
		switch {
		case f.Base == "Makefile" || f.Base == "GNUmakefile":
			for n, line := range project.Lines(f.Text) {
				if t := strings.TrimLeft(strings.TrimSpace(line), "@-+"); strings.HasPrefix(line, "\t") && f.Dir == "." &&
					!strings.HasPrefix(t, "make ") {
					out = append(out, command{f, n, t})
				}
			}
		case f.Base == "tox.ini" && f.Dir == ".":
			for n, line := range project.Lines(f.Text) {
				if t := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "deps =")); strings.HasPrefix(t, "-r") {
					out = append(out, command{f, n, t})
				}
			}
		case isDockerfile(f):
			for n, line := range project.Lines(f.Text) {
				if strings.HasPrefix(line, "COPY ") {
					out = append(out, command{f, n, line})
				}
			}
		}
	}
	for _, m := range s.Manifests() {
		if m.Tool != "npm" || m.File.Dir != "." {
			continue
		}
		for _, name := range sortedKeys(m.Scripts) {
			out = append(out, command{m.File, m.Scripts[name].Line, m.Scripts[name].Text})
		}
	}
	return out
}

var localAction = pattern.New(`^(?:- )?uses:\s*(\./[\w./-]+)`)

var (
	stepPath   = pattern.New(`^\s*(?:-\s+)?path:\s*["']?(.+?)["']?\s*(?:#.*)?$`)
	otherTree  = pattern.New(`^\s*(?:-\s+)?repository:\s*\S`)
	stepWorkIn = pattern.New(`^\s*(?:-\s+)?working-directory:\s*["']?(.+?)["']?\s*(?:#.*)?$`)
)

// checkedOut says that lines before may have put the name there: a checkout into
// a directory of its own, or of another repository.
func checkedOut(f *project.File, name string, before int) bool {
	for n, line := range project.Lines(f.Text) {
		if n >= before {
			return false
		}
		if otherTree.MatchString(line) {
			return true
		}
		if m := stepPath.FindStringSubmatch(line); m != nil {
			dir := path.Clean(m[1])
			if strings.Contains(dir, "$") || name == dir || strings.HasPrefix(name, dir+"/") {
				return true
			}
		}
	}
	return false
}

// worksElsewhere says that a pipeline has steps in a directory that another
// manifest than the root's may rule.
func (s *sight) worksElsewhere(f *project.File, manifest string) bool {
	for _, line := range project.Lines(f.Text) {
		m := stepWorkIn.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		dir := path.Clean(m[1])
		if dir != "." && !s.IsDir(dir) {
			return true // filled in later, or made by a step
		}
		for ; dir != "."; dir = path.Dir(dir) {
			if s.Has(path.Join(dir, manifest)) {
				return true
			}
		}
	}
	return false
}

// statedVersions: the manifest says that it supports what it refuses.
func statedVersions(s *sight) []finding {
	for _, m := range s.Manifests() {
		low, ok := floor(m)
		if !ok || m.Tool != "pip" || m.Needs.Text == "" || !citable(m.File.Path) {
			continue
		}
		for _, v := range m.Speaks {
			have, ok := project.ParseVersion(v.Text)
			if ok && have.Compare(low) < 0 && !low.Within(have) {
				return []finding{found("the Python version",
					"The manifest says in its classifiers that it supports Python %s, %s, and refuses it: %s.", v.Text, at(m.File,
						v.Line), at(m.File, m.Needs.Line)).
					then("Drop the classifier, or lower what is required.", costMinutes,
						"people who choose by the classifiers and cannot install").
					weighs(contradicted, "version python packaging")}
			}
		}
	}
	return nil
}

var versionLine = pattern.New(`^\W{0,6}(?i:version |release )?\W{0,3}v?\d+\.\d+`)

// firstVersion is the first line that begins with a version, whatever its form.
func firstVersion(text string) int {
	return lineWhere(text, versionLine.MatchString).line
}

// longSinceRelease: entries wait under "unreleased" or the log ends long ago.
func longSinceRelease(s *sight) []finding {
	f, log := s.releases()
	if f == nil || len(s.past) < 20 || !citable(f.Path) {
		return nil
	}
	newest := log[0]
	for _, r := range log {
		if r.v.Compare(newest.v) > 0 {
			newest = r
		}
	}
	m := s.product()
	if m == nil || firstVersion(f.Text) != newest.n {
		return nil // whether the log has every release cannot be seen
	}
	if v, ok := project.ParseVersion(m.Version.Text); !ok || v.Compare(newest.v) > 0 && !v.Pre {
		return nil // the log is behind
	}
	c := at(f, newest.n)
	line := strings.Split(f.Text, "\n")[newest.n-1]
	day, text, ok := dateIn(line)
	if !ok || c.quote == "" {
		return nil
	}
	since := 0
	for _, x := range s.past {
		if x.date.After(day) && !machineName.MatchString(x.author) {
			since++
		}
	}
	if since < 30 || s.past[0].date.Sub(day) < 180*24*time.Hour {
		return nil
	}
	all := strconv.Itoa(since)
	if since == len(s.past) {
		all = "at least " + all
	}
	return []finding{found("the next release", "The newest release in the log of changes is of %s, %s; %s commits of "+
		"people have come since, the latest in the log is %s.", text, c, all, s.past[0].cite()).
		then("Decide what holds up the next release, and name its day.", costHour, "users who wait for what is long done").
		weighs(worthKnowing+8, "release changelog process progress")}
}

// limitsSaid is the sentence about what was not looked at, "" for nothing.
func (s *sight) limitsSaid() string {
	l := s.Looked
	switch {
	case l.Cut:
		return fmt.Sprintf("I stopped at %d files and have read %d of them; there are more, and of what I do not mention I "+
			"say nothing.", l.Files, l.Read)
	case !l.Whole():
		return fmt.Sprintf("I have read %d of the %d files that are worth reading here (%d in all); of the rest I say "+
			"nothing.", l.Read, l.Want, l.Files)
	}
	return ""
}
