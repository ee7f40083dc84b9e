package receipt

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"conclave/agent"
	"conclave/audit"
	"conclave/gate"
	"conclave/policy"
	"conclave/quest"
	"conclave/transcript"
)

// judge: what one of them was given, what held it, what it said.
func (c *checker) judge(i int) {
	j := &c.b.Judges[i]
	about := fmt.Sprintf("judge %d", i+1)
	if j.Failed != "" {
		c.state(about, "it gave no verdict: %s", j.Failed)
	}
	good := c.clean(func() {
		c.identity(about, j)
		c.given(about, j)
		c.findings(about, j)
		c.sent(about, j)
	})
	c.room(about, j)
	for _, s := range j.Stamps {
		c.state(about, "stamped: %s", s)
	}
	if good && j.Failed == "" {
		by := "criteria"
		if c.b.isGuardian() {
			by = "expectation"
		}
		c.state(about, "%s: it was given the %s and the work of the list, and nothing else", who(j), by)
		c.sentTo(about, j)
	}
}

// who is what answered.
func who(j *Judge) string {
	name := strings.TrimSpace(cmp.Or(j.Program, j.Adapter) + " " + j.Version)
	if j.Model != "" {
		name += " with " + j.Model
	}
	return name
}

// sentTo says what is known of what its model was sent.
func (c *checker) sentTo(about string, j *Judge) {
	switch j.ModelInput {
	case audit.InputObserved:
		c.state(about, "%s to its model, each on its record by its digest", many(len(j.Sent), "request", "requests"))
	case audit.InputNone:
		c.state(about, "it asked no model")
	}
}

// identity: it has a record of its own, and its family is what its model is.
func (c *checker) identity(about string, j *Judge) {
	switch {
	case j.Failed != "" && j.Head == "": // it never had one
	case j.Run == "" || !isDigest(j.Head) || j.Frames < 2:
		c.find(about, "it has no run with a sealed record")
	case !isDigest(j.Instructions):
		c.find(about, "its instructions have no digest")
	}
	if j.Ended.Before(j.Started) || j.Ended.After(c.b.Made) {
		c.find(about, "it ended before it began, or after the receipt was made")
	}
	provider := j.Provider
	if provider == "" {
		provider = j.Adapter
	}
	if want := gate.Family(provider, j.Model); j.Family != want {
		c.find(about, "its family is said to be %q, and %q is what its model is", j.Family, want)
	}
}

// ownKinds are what of a role's knowledge goes into the room of a gate, beside
// the work: each once.
var ownKinds = []policy.Kind{policy.SuccessCriteria, policy.Expectation, policy.Mode, policy.StageName, policy.CheckResults,
	policy.OwnProfile}

// given: what was in the room is the role's to know, and is the work of the list
// and the few things around it.
func (c *checker) given(about string, j *Judge) {
	for _, f := range audit.Given(c.b.Case.Role, j.Given) {
		c.find(about, "%s", f.What)
	}
	want := map[string]File{}
	for _, f := range c.b.Case.Work.Files {
		want["work/"+f.Path] = f
	}
	if d := c.b.Case.Work.Diff; d != nil {
		want[d.Path] = *d
	}
	kinds := map[policy.Kind]bool{}
	for _, item := range j.Given {
		kind := policy.Kind(item.Kind)
		path := strings.TrimPrefix(item.Path, agent.WorkDir+"/")
		f, work := want[path]
		switch {
		case item.Mounted || item.Files > 0 || item.Size < 0 || !isDigest(item.SHA256):
			c.find(about, "%s is no file that was copied into the room", item.Path)
		case work && !slices.Contains(ownKinds, kind):
			if f.Size != item.Size || f.SHA256 != item.SHA256 {
				c.find(about, "%s was in its room with other bytes than the list of the work has", item.Path)
			}
			delete(want, path)
		case !slices.Contains(ownKinds, kind) || kinds[kind]:
			c.find(about, "%s (%s) was in its room, beside criteria and work", item.Path, item.Kind)
		}
		kinds[kind] = true
	}
	if j.Failed != "" {
		return
	}
	if !kinds[policy.SuccessCriteria] && !c.b.isGuardian() || !kinds[policy.Expectation] && c.b.isGuardian() {
		c.find(about, "what it was to judge by was not in its room")
	}
	if len(want) > 0 {
		c.find(about, "%d files of the work were not in its room", len(want))
	}
}

// findings: one for each criterion, in order, with citations that are places in
// the work.
func (c *checker) findings(about string, j *Judge) {
	if j.Failed != "" {
		if j.Verdict != "" || len(j.Findings) > 0 {
			c.find(about, "it is said to have failed, and to have judged")
		}
		return
	}
	if j.Verdict == "" {
		c.find(about, "it has neither a verdict nor a reason for having none")
	}
	numbers := c.b.numbers()
	if len(j.Findings) != len(numbers) && !(c.b.isGuardian() && len(j.Findings) == 0) {
		c.find(about, "it has %d findings on %d criteria", len(j.Findings), len(numbers))
	}
	for i, f := range j.Findings {
		if i < len(numbers) && f.Number != numbers[i] {
			c.find(about, "finding %d is on criterion %d", i+1, f.Number)
		}
		if c.b.isGuardian() && f.Status != j.Verdict || !c.b.isGuardian() && !quest.Status(f.Status).Known() {
			c.find(about, "%q is no status of a criterion, or not its verdict", f.Status)
		}
		c.citations(about, f)
	}
}

func (c *checker) citations(about string, f Finding) {
	for _, at := range f.Citations {
		if at.OK && (at.Line < 1 || at.EndLine != 0 && at.EndLine < at.Line || !c.inWork(at.Path)) {
			c.find(about, "%q is said to be a place in the work, and is none", at.Text)
		}
	}
}

func (c *checker) inWork(path string) bool {
	if !fs.ValidPath(path) {
		return false
	}
	w := c.b.Case.Work
	return w.Diff != nil && path == w.Diff.Path ||
		slices.ContainsFunc(w.Files, func(f File) bool { return f.Path == path })
}

// sent: what the model was sent is on the judge's record, by these digests.
func (c *checker) sent(about string, j *Judge) {
	for _, s := range j.Sent {
		if s.Bytes < 0 || !isDigest(s.SHA256) {
			c.find(about, "something was sent to the model that has no digest")
			return
		}
	}
	switch {
	case j.ModelInput == audit.InputObserved && len(j.Sent) == 0 && j.Failed == "":
		c.find(about, "what its model was sent is said to be observed, and there is nothing of it")
	case j.ModelInput == audit.InputNone && (len(j.Sent) > 0 || j.Model != ""):
		c.find(about, "it is said to have asked no model, and something was sent to one")
	}
	switch j.ModelInput {
	case audit.InputObserved, audit.InputNotObserved, audit.InputNone, "":
	default:
		c.find(about, "%q is no word for what is known of its model's input", j.ModelInput)
	}
}

// inProcess are those who answer inside of conclave itself: they start no
// program, and read what they are handed.
var inProcess = []string{transcript.AdapterOffline, transcript.AdapterScripted, transcript.AdapterModel}

// room: by the rule of package audit.
func (c *checker) room(about string, j *Judge) {
	if j.Failed != "" && j.Enforced.Level == "" {
		return // it never had a room
	}
	shown := audit.Receipt{Role: c.b.Case.Role, InProcess: j.InProcess, ModelInput: j.ModelInput, Enforced: j.Enforced,
		Stamps: j.Stamps}.Shown()
	for _, f := range shown.Findings {
		c.find(about, "%s", f.What)
	}
	for _, g := range shown.Gaps {
		c.open(about, "%s", g)
	}
	switch {
	case j.InProcess && !slices.Contains(inProcess, j.Adapter):
		c.find(about, "it is said to have run inside of conclave, and %q is a program of its own", j.Adapter)
	case j.InProcess && len(j.Enforced.Probes) > 0:
		c.find(about, "it is said to have run inside of conclave, and to have been in a room")
	case j.InProcess:
		c.state(about, "it ran inside of conclave (%s), which hands it what is listed: there were no walls to try", j.Adapter)
	case len(shown.Findings) == 0:
		c.state(about, "its room was %s: %s possible outside and impossible inside (%s)", shown.Level,
			many(shown.Probes, "thing was", "things were"), j.Enforced.Mechanism)
	}
}
