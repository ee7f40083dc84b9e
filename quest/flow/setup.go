package flow

import (
	"fmt"
	"path"
	"strings"

	"conclave/engine"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
)

// Setup dresses the party: choose a pack, look at it, install it, change one
// or another by hand.
type Setup struct {
	Pack string `json:"pack,omitempty"` // empty: the person is asked
}

const asTheyAre = "As they are"

func (h *House) setup(r *engine.Run, in Setup) (Result, error) {
	read := func() (Opening, error) { return h.readOpening(policy.Gandalf, "setup", quest.PurposeSetup, true) }
	o, err := plainStep(r, "begin", read)
	if err != nil {
		return Result{}, err
	}
	s := &setupRun{h: h, t: h.dialogue(r, o, extras{})}
	if err := s.dress(in.Pack); err != nil {
		return Result{}, err
	}
	if err := s.customise(); err != nil {
		return Result{}, err
	}
	res := s.t.result("")
	res.Runs = nil
	if s.t.ended != "" {
		return res, nil
	}
	what := "Characters as they are"
	if s.worn != "" {
		what = "Characters set up: " + s.worn
	}
	day := quest.Day(o.Start)
	note, err := h.editQuest(r, "setup", o.Quest, func(q *quest.Quest) ([]byte, error) {
		if q.Phase != quest.PhaseSetup {
			return q.WithProgress(quest.PhaseCompleted(quest.PhaseSetup, what, day))
		}
		return q.WithPhase(quest.PhaseExecution, q.Facts(), quest.PhaseCompleted(quest.PhaseSetup, what, day))
	})
	if err != nil {
		return Result{}, err
	}
	res.note(note)
	res.note(s.notes...)
	res.Phase = quest.PhaseExecution
	// The names of those who are offered are the new ones.
	now, err := plainStep(r, "faces", read)
	if err != nil {
		return Result{}, err
	}
	q := o.quest()
	res.at(quest.AfterFraming, now, q.FirstAdvisor())
	return res, nil
}

type setupRun struct {
	h     *House
	t     *dialogue
	worn  string // the pack
	notes []string
}

// packed is a pack as it is offered.
type packed struct {
	Name, Theme, Table string
}

func (s *setupRun) packs() ([]packed, error) {
	return plainStep(s.t.r, "packs", func() ([]packed, error) {
		list, err := s.h.opts.Library.List()
		if err != nil {
			return nil, engine.Halt(err)
		}
		var out []packed
		for _, p := range list {
			if len(p.Faults) == 0 {
				out = append(out, packed{string(p.Origin) + ":" + p.Name, p.Theme, table(p)})
			}
		}
		return out, nil
	})
}

func table(p *profile.Pack) string {
	var b strings.Builder
	for _, x := range p.Profiles {
		face := x.Face()
		fmt.Fprintf(&b, "  %s %s – %s\n", face.Emoji(), face.MenuName(), face.Archetype.Core)
	}
	return strings.TrimRight(b.String(), "\n")
}

// dress chooses, shows and installs a pack.
func (s *setupRun) dress(named string) error {
	packs, err := s.packs()
	if err != nil {
		return err
	}
	options := []engine.Option{}
	for _, p := range packs {
		options = append(options, engine.Option{Label: p.Theme, Hint: p.Name})
	}
	options = append(options, engine.Option{Label: asTheyAre})
	question := "Which characters shall the party wear?"
	for s.t.ended == "" {
		n := len(packs)
		if named == "" {
			c, err := s.t.choose("pack", question, options, asTheyAre, false)
			if err != nil || s.t.ended != "" {
				return err
			}
			n = chosen(options, c)
		} else {
			for i, p := range packs {
				if p.Name == named || strings.HasSuffix(p.Name, ":"+named) {
					n = i
				}
			}
		}
		if n < 0 || n >= len(packs) {
			return nil
		}
		ok, err := s.install(packs[n])
		if err != nil || ok {
			return err
		}
		named, question = "", strings.Join(append(s.notes, "Which characters shall the party wear?"), "\n")
	}
	return nil
}

func (s *setupRun) install(p packed) (bool, error) {
	yes := []engine.Option{{Label: "Yes, install them"}, {Label: "No, show me others"}}
	c, err := s.t.choose("preview", p.Theme+"\n\n"+p.Table+"\n\nThese?", yes, yes[0].Label, false)
	if err != nil || s.t.ended != "" || chosen(yes, c) != 0 {
		return false, err
	}
	problem, err := plainStep(s.t.r, "install "+p.Name, func() (string, error) {
		pack, err := s.h.opts.Library.Find(p.Name)
		if err == nil {
			err = s.wear(pack)
		}
		if err != nil {
			return err.Error(), nil
		}
		return "", nil
	})
	if problem != "" {
		s.notes = append(s.notes, p.Theme+" was not installed: "+problem)
		return false, err
	}
	s.worn = p.Theme
	return true, err
}

// wear installs a pack. One of the project's own is somebody's text, and needs
// the person's yes like any other.
func (s *setupRun) wear(pack *profile.Pack) error {
	for _, q := range pack.Profiles {
		if pack.Origin != profile.FromProject {
			break
		}
		if err := s.h.opts.Trust.Vouch(path.Join("profile-packs", pack.Name, q.Archetype+".md"), q.Bytes()); err != nil {
			return err
		}
	}
	if _, err := (profile.Project{Dir: s.h.opts.Root}).Install(pack, nil, false); err != nil {
		return err
	}
	for _, q := range pack.Profiles {
		if err := s.h.opts.Trust.Grant(profileFile(q.Archetype), q.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// customise offers to give one or another a name of their own.
func (s *setupRun) customise() error {
	done := engine.Option{Label: "Done"}
	for s.t.ended == "" {
		options := []engine.Option{done}
		for _, a := range profile.Cast() {
			if a.Kind != profile.Educator {
				options = append(options, engine.Option{Label: a.Title})
			}
		}
		c, err := s.t.choose("customise", "Change the name of one of them?", options, done.Label, false)
		n := chosen(options, c)
		if err != nil || s.t.ended != "" || n <= 0 {
			return err
		}
		who := profile.Cast()[n-1]
		name, err := s.t.ask("name", engine.Question{Text: "The new name of " + who.Title + ":"})
		if err != nil || s.t.ended != "" {
			return err
		}
		problem, err := plainStep(s.t.r, "rename "+who.ID, func() (string, error) {
			if err := s.rename(who, strings.TrimSpace(name)); err != nil {
				return err.Error(), nil
			}
			return "", nil
		})
		if err != nil {
			return err
		}
		if problem != "" {
			s.notes = append(s.notes, who.Title+" keeps its name: "+problem)
		}
	}
	return nil
}

func (s *setupRun) rename(who profile.Archetype, name string) error {
	if err := profile.CheckSkinName(name); err != nil {
		return err
	}
	project := profile.Project{Dir: s.h.opts.Root}
	party, _, err := project.Party()
	if err != nil {
		return err
	}
	data, trusted := profile.Plain(who, name, "Custom", ""), true
	if p := party[who.ID]; p != nil {
		trusted = s.h.opts.Trust.Vouch(profileFile(who.ID), p.Bytes()) == nil
		if data, err = p.Rename(name, ""); err != nil {
			return err
		}
	}
	if _, err := project.Set(who.ID, data, party[who.ID] != nil); err != nil {
		return err
	}
	if !trusted {
		return nil // a new name makes nobody trust an old text
	}
	return s.h.opts.Trust.Grant(profileFile(who.ID), data)
}
