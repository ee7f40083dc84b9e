package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/gate"
	"conclave/internal/atomicfile"
	"conclave/receipt"
	door "conclave/workspace"
)

// cacheDir is where the person's decided cases are kept: never in a workspace,
// where a change could bring its own answer. It is empty where there is no place.
func (s *gateSession) cacheDir() (string, error) {
	if dir := s.in.Cache; dir != "" {
		dir = s.app.AbsPath(dir)
		if s.inWorkspace(dir) {
			return "", usageError("--cache %s: it lies in the workspace, where a change could bring its own answer", dir)
		}
		return dir, nil
	}
	dir := s.app.userCacheDir()
	if dir == "" || s.inWorkspace(dir) {
		return "", nil
	}
	return filepath.Join(dir, "conclave", "gate"), nil
}

// cached is the receipt of the same case before the same judges, nil without one.
func (s *gateSession) cached(key string) *receipt.Receipt {
	dir, err := s.cacheDir()
	if err != nil || dir == "" || s.in.NoCache || s.earlier != nil {
		return nil
	}
	data, err := door.ReadOwn(filepath.Join(dir, key+".json"), receipt.MaxSize)
	if err != nil {
		return nil
	}
	r, err := receipt.Read(data)
	if err != nil || r.Body.Case.Digest != s.opened.Case.Digest || !decided(&r.Body) {
		return nil // it is judged anew, and that takes its place
	}
	return r
}

// decided says whether a body holds a decision that follows from its votes.
func decided(b *receipt.Body) bool {
	counted, err := b.Decide()
	if err != nil || counted.Outcome == gate.NotJudged {
		return false
	}
	one, err := json.Marshal(counted)
	other, otherErr := json.Marshal(b.Decision)
	return err == nil && otherErr == nil && string(one) == string(other)
}

// keep keeps a decided case. What cannot be kept is judged again.
func (s *gateSession) keep(key string, made *receipt.Receipt) {
	dir, err := s.cacheDir()
	if err != nil || dir == "" || made.Body.Decision.Outcome == gate.NotJudged {
		return
	}
	data, err := made.Write()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = atomicfile.Replace(filepath.Join(dir, key+".json"), data, 0o600)
	}
	if err != nil {
		s.app.tell("the verdict is not kept for the next time: " + err.Error())
	}
}

// writeReceipt writes the file that the answer names.
func (s *gateSession) writeReceipt(file string, r *receipt.Receipt) error {
	data, err := r.Write()
	if err != nil {
		return err
	}
	if s.in.Receipt == "" {
		if err := s.w.makePrivate(); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return environmentError("write the receipt: %w", err)
		}
	}
	if err := atomicfile.Replace(file, data, 0o644); err != nil {
		return environmentError("write the receipt: %w", err)
	}
	return nil
}

// again reads the receipt whose case is judged once more: the criteria, the role,
// the rule and the number of judges come from it, and nothing else does.
func (s *gateSession) again(context.Context) error {
	in := &s.in
	if in.Again == "" {
		return nil
	}
	data, err := door.ReadNamed(s.app.AbsPath(in.Again), receipt.MaxSize)
	if err != nil {
		return namedError("read the receipt: %w", err)
	}
	if s.earlier, err = receipt.Read(data); err != nil {
		return environmentError("%s: %w", in.Again, err)
	}
	if in.Criteria != "" || in.Expect != "" || in.Judge != "" || in.Rule != "" || in.Judges != 0 {
		return usageError("--again takes criteria, judge, rule and number of judges from the receipt")
	}
	c := s.earlier.Body.Case
	in.Judge, in.Rule, in.Judges, in.Expect = c.Role, c.Rule, c.N, c.Expect
	in.Criteria = c.Criteria.Text
	return nil
}

// sameCase refuses to call it the same case when it is another one.
func (s *gateSession) sameCase(context.Context) error {
	if s.earlier == nil {
		return nil
	}
	was, is := s.earlier.Body.Case.Work, s.opened.Case.Work
	var differs []string
	for _, f := range was.Files {
		i := slices.IndexFunc(is.Files, func(o gate.File) bool { return o.Path == f.Path })
		switch {
		case i < 0:
			differs = append(differs, f.Path+": it is not there")
		case is.Files[i] != f:
			differs = append(differs, f.Path+": it is another one")
		}
	}
	for _, f := range is.Files {
		if !slices.ContainsFunc(was.Files, func(o gate.File) bool { return o.Path == f.Path }) {
			differs = append(differs, f.Path+": the receipt does not have it")
		}
	}
	if (was.Diff == nil) != (is.Diff == nil) || was.Diff != nil && *was.Diff != *is.Diff {
		differs = append(differs, "the change is another one")
	}
	if len(differs) == 0 && s.earlier.Body.Case.Digest == s.opened.Case.Digest {
		return nil
	}
	return environmentError("this is not the case of %s:\n%s", s.in.Again, strings.Join(differs, "\n"))
}

// compare says whether the verdicts agree.
func (s *gateSession) compare(got *GateAnswer) {
	if s.earlier == nil {
		return
	}
	was := s.earlier.Body.Decision
	for _, d := range got.Decision.Criteria {
		i := slices.IndexFunc(was.Criteria, func(o gate.Decided) bool { return o.Number == d.Number })
		if i < 0 || was.Criteria[i].Status != d.Status {
			got.Differs = append(got.Differs, d.Number)
		}
	}
	agrees := len(got.Differs) == 0 && was.Outcome == got.Decision.Outcome
	got.Agrees = &agrees
}
