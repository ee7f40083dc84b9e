package receipt

import (
	"encoding/hex"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"conclave/gate"
	"conclave/policy"
	"conclave/quest"
)

// isDigest: 64 hexadecimal digits, in lower case.
func isDigest(s string) bool { return isHex(s, 64) }

func isHex(s string, lengths ...int) bool {
	_, err := hex.DecodeString(s)
	return err == nil && slices.Contains(lengths, len(s)) && s == strings.ToLower(s)
}

// isCommit: the name of a commit, of either kind of repository.
func isCommit(s string) bool { return isHex(s, 40, 64) }

// criteria: they must be what their text says, and where they come from must be
// said.
func (c *checker) criteria() {
	k := c.b.Case.Criteria
	good := c.clean(func() {
		switch {
		case c.b.isGuardian():
			if k.Origin != "" || k.Text != "" || len(k.List) > 0 || c.b.Case.Expect == "" {
				c.find("criteria", "the Guardian is given an expectation, and no criteria")
			}
		case c.b.Case.Expect != "":
			c.find("criteria", "the Dragon is given criteria, and no expectation")
		default:
			c.origin(k)
		}
		if k.SHA256 != gate.SHA256([]byte(k.Text)) && !(c.b.isGuardian() && k.SHA256 == "") {
			c.find("criteria", "their digest is not that of their text")
		}
		c.list(k)
	})
	if !good {
		return
	}
	if c.b.isGuardian() {
		c.show("criteria", "none: the Guardian was asked about an expectation")
		return
	}
	c.show("criteria", "%s, whose text has the digest %s", many(len(k.List), "criterion", "criteria"), k.SHA256)
	switch k.Origin {
	case gate.Committed:
		c.state("criteria", "they were committed: where it was judged, `git show %s:./%s | sha256sum` gives that digest", k.Commit, k.File)
	case gate.OfCaller:
		c.state("criteria", "whoever asked for the verdict wrote them")
	case gate.OfQuest:
		c.state("criteria", "they are those of the quest")
	}
}

// list: the criteria are those of the text, by the one reader of criteria.
func (c *checker) list(k Criteria) {
	if c.b.isGuardian() {
		return
	}
	want, err := quest.ReadCriteria("the text", []byte(k.Text))
	if err != nil {
		c.find("criteria", "their text cannot be read as criteria: %v", err)
		return
	}
	same := slices.EqualFunc(want, k.List, func(w quest.Criterion, g Criterion) bool {
		return w.Number == g.Number && w.Text == g.Text && w.Check == g.Check
	})
	switch {
	case same:
	case k.Origin == gate.OfQuest: // rendered from the list; a code block that is never closed reads otherwise
		c.open("criteria", "read from their text again, they are not the same list")
	default:
		c.find("criteria", "those that were judged are not those of the text")
	}
}

func (c *checker) origin(k Criteria) {
	switch k.Origin {
	case gate.Committed:
		if !isCommit(k.Commit) || !fs.ValidPath(k.File) || k.File == "." {
			c.find("criteria", "they are said to be committed, and neither commit nor file is named")
		}
		if w := c.b.Case.Work; k.Commit == w.Head && w.Head != w.Base {
			c.find("criteria", "they are said to come from a commit that the change cannot reach, and are of its own: %s", k.Commit)
		}
	case gate.OfCaller, gate.OfQuest:
	default:
		c.find("criteria", "%q is no word for where criteria come from", k.Origin)
	}
}

// workList: paths that mean one file each, and digests that follow from it.
func (c *checker) workList() {
	w := c.b.Case.Work
	good := c.clean(func() {
		seen := map[string]bool{}
		for _, f := range w.Files {
			switch {
			case !fs.ValidPath(f.Path) || f.Path == "." || strings.ContainsRune(f.Path, '\x00'):
				c.find("work", "%q is no path of a file", f.Path)
			case seen[f.Path]:
				c.find("work", "%q is there twice", f.Path)
			case f.Size < 0 || !isDigest(f.SHA256):
				c.find("work", "%q has no size or no digest", f.Path)
			}
			seen[f.Path] = true
		}
		for path := range seen {
			for dir := parent(path); dir != ""; dir = parent(dir) {
				if seen[dir] {
					c.find("work", "%q is a file, and %q lies below it", dir, path)
				}
			}
		}
		if len(w.Files) == 0 {
			c.find("work", "there is none")
		}
		c.commits(w)
		if w.Digest != w.Sum() {
			c.find("work", "its digest is not that of the list")
		}
		if c.b.Case.Digest != c.b.Case.Sum() {
			c.find("case", "its digest is not that of criteria, work and rule")
		}
	})
	if !good {
		return
	}
	c.show("work", "%s with digests, which come to %s", many(len(w.Files), "file", "files"), w.Digest)
	c.show("case", "criteria, work and rule come to the digest %s", c.b.Case.Digest)
	if w.Diff != nil {
		c.state("work", "the files are those of commit %s, and the change is from %s to it", w.Head, w.Base)
	}
	for _, l := range w.LeftOut {
		c.state("work", "%s was left out: %s", l.Path, l.Reason)
	}
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

func (c *checker) commits(w Work) {
	if (w.Diff == nil) != (w.Base == "") || (w.Base == "") != (w.Head == "") {
		c.find("work", "a change has two commits and a text, and something of that is missing")
	}
	if w.Diff != nil && (!isCommit(w.Base) || !isCommit(w.Head) || w.Diff.Size < 0 || !isDigest(w.Diff.SHA256)) {
		c.find("work", "the change has no commits or no digest")
	}
}

// panel: who was to judge, by which rule, and that they all are here.
func (c *checker) panel() {
	if c.b.Case.Role != string(policy.Dragon) && c.b.Case.Role != string(policy.Guardian) {
		c.find("judges", "%q judges nothing", c.b.Case.Role)
	}
	if err := gate.CheckPanel(c.b.Case.Rule, c.b.Case.N); err != nil {
		c.find("judges", "%v", err)
	}
	if len(c.b.Judges) != c.b.Case.N {
		c.find("judges", "%d were to judge, and %d are here", c.b.Case.N, len(c.b.Judges))
	}
	runs := map[string]bool{c.out.Run: true}
	for i, j := range c.b.Judges {
		if j.Number != i+1 {
			c.find("judges", "judge %d is in place %d", j.Number, i+1)
		}
		if runs[j.Run] && j.Run != "" {
			c.find("judges", "the run %s is there twice", j.Run)
		}
		runs[j.Run] = true
	}
}

// checks: each criterion's own command has one result.
func (c *checker) checks() {
	states := []string{string(quest.CheckPassed), string(quest.CheckFailed), string(quest.CheckNotRun)}
	wanted := map[int]string{}
	for _, k := range c.b.Case.Criteria.List {
		if k.Check != "" {
			wanted[k.Number] = k.Check
		}
	}
	good := c.clean(func() {
		for _, k := range c.b.Checks {
			command, ok := wanted[k.Number]
			if !ok || command != k.Command || !slices.Contains(states, k.State) {
				c.find("checks", "the check of criterion %d is not the one that was agreed, or there twice, or has no result", k.Number)
			}
			delete(wanted, k.Number)
			c.ran(k)
		}
		for _, k := range c.b.Case.Criteria.List {
			if wanted[k.Number] != "" {
				c.find("checks", "criterion %d has a check, and no result of it is here", k.Number)
			}
		}
	})
	if good && len(c.b.Checks) > 0 {
		c.show("checks", "%s, as the criteria have them", many(len(c.b.Checks), "command", "commands"))
	}
}

// ran says what became of a check, and in which room.
func (c *checker) ran(k Check) {
	if k.State == string(quest.CheckNotRun) {
		c.state("checks", "that of criterion %d could not run: %s", k.Number, k.Note)
		return
	}
	c.state("checks", "that of criterion %d %s, in a room that was %s", k.Number, k.State, k.Level)
	if !policy.Level(k.Level).Satisfies(policy.Required(policy.Dragon)) {
		c.open("checks", "the room of criterion %d's check was weaker than a judge's has to be", k.Number)
	}
}

// decision: it must be what votes and checks come to.
func (c *checker) decision() {
	want, err := c.b.Decide()
	got := c.b.Decision
	switch {
	case err != nil:
		c.find("decision", "the votes cannot be counted: %v", err)
	case !reflect.DeepEqual(want, got):
		c.find("decision", "it is %q, and votes and checks come to %q, or to other counts", got.Outcome, want.Outcome)
	default:
		c.show("decision", "%s: counted again by the rule %q, from what is stated of %s and %s", got.Outcome,
			c.b.Case.Rule, many(len(c.b.Judges), "judge", "judges"), many(len(c.b.Checks), "check", "checks"))
		c.independence(got)
	}
}

func (c *checker) independence(d Decision) {
	switch {
	case c.b.Case.N == 1:
	case d.Independent:
		c.state("decision", "the judges are of different families of models: %s", strings.Join(d.Families, ", "))
	default:
		c.state("decision", "the judges are repeats, not independent: they are of one family of models, or of one that is not known")
	}
}
