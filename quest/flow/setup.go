package flow

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
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

func (h *House) setup(r *engine.Run, in Setup) (Result, error) { return h.dressUp(r, in, false) }

// setupFirst is setup as the first version of it was: what it left open goes on
// with the steps that it knew.
func (h *House) setupFirst(r *engine.Run, in Setup) (Result, error) { return h.dressUp(r, in, true) }

func (h *House) dressUp(r *engine.Run, in Setup, first bool) (Result, error) {
	read := func() (Opening, error) { return h.readOpening(policy.Gandalf, "setup", quest.PurposeSetup, true) }
	o, err := plainStep(r, "begin", read)
	if err != nil {
		return Result{}, err
	}
	s := &setupRun{h: h, t: h.dialogue(r, o, extras{}), first: first}
	s.t.understand = !first
	if err := s.dress(in.Pack); err != nil {
		return Result{}, err
	}
	if err := s.customise(); err != nil {
		return Result{}, err
	}
	what := "Characters as they are"
	if s.worn != "" {
		what = "Characters set up: " + s.worn
	}
	file := ""
	if !first {
		if file, err = s.t.file(what); err != nil {
			return Result{}, err
		}
	}
	res := s.t.result(file)
	if file == "" {
		res.Runs = nil // nobody was asked
	}
	if s.t.ended != "" {
		return res, nil
	}
	day, before := quest.Day(o.Start), o.Quest
	if s.t.quest != nil {
		before = s.t.quest
	}
	note, err := h.editQuest(r, "setup", before, func(q *quest.Quest) ([]byte, error) {
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
	if len(now.Skins) > 0 && !first {
		res.Outcome = "This is the party now:\n\n" + now.table()
	}
	q := o.quest()
	res.at(quest.AfterFraming, now, q.FirstAdvisor())
	return res, nil
}

// table is who plays whom.
func (o Opening) table() string {
	var faces []profile.Face
	for _, a := range profile.Cast() {
		if a.Kind != profile.Educator {
			faces = append(faces, o.face(policy.Role(a.ID)))
		}
	}
	return tableOf(faces)
}

func tableOf(faces []profile.Face) string {
	var b strings.Builder
	for _, f := range faces {
		fmt.Fprintf(&b, "  %s %s – %s\n", f.Emoji(), f.MenuName(), f.Archetype.Core)
	}
	return strings.TrimRight(b.String(), "\n")
}

type setupRun struct {
	h     *House
	t     *dialogue
	first bool   // of the first version
	worn  string // the pack
	notes []string
	asked int // Gandalf, for characters in writing
}

// packed is a pack as it is offered.
type packed struct {
	Name, Theme, Table string
	Fits               []string // what of it the quest speaks of
}

// packs are those that can be worn; the one that fits the quest best stands first.
func (s *setupRun) packs() ([]packed, error) {
	return plainStep(s.t.r, "packs", func() ([]packed, error) {
		list, err := s.h.opts.Library.List()
		if err != nil {
			return nil, engine.Halt(err)
		}
		q := s.t.o.quest()
		var out []packed
		for _, p := range list {
			if len(p.Faults) > 0 {
				continue
			}
			fits := p.Suits(q.Title + "\n" + q.Narrative + "\n" + quest.CriteriaText(q.Criteria))
			out = append(out, packed{string(p.Origin) + ":" + p.Name, p.Theme, table(p), fits})
		}
		if !s.first {
			slices.SortStableFunc(out, func(a, b packed) int { return len(b.Fits) - len(a.Fits) })
		}
		return out, nil
	})
}

func table(p *profile.Pack) string {
	var faces []profile.Face
	for _, x := range p.Profiles {
		faces = append(faces, x.Face())
	}
	return tableOf(faces)
}

// hint says where a pack comes from, and why it is suggested: of those that the
// quest speaks of, the first.
func (p packed) hint(suggested bool) string {
	if !suggested || len(p.Fits) == 0 {
		return p.Name
	}
	var words []string
	for _, w := range p.Fits {
		words = append(words, "“"+w+"”")
	}
	return p.Name + "; it may suit: your quest speaks of " + strings.Join(words, ", ")
}

// dress chooses, shows and installs a pack, or has characters designed.
func (s *setupRun) dress(named string) error {
	packs, err := s.packs()
	if err != nil {
		return err
	}
	options := []engine.Option{}
	for i, p := range packs {
		options = append(options, engine.Option{Label: p.Theme, Hint: p.hint(i == 0 && !s.first)})
	}
	designed := -1
	if !s.first {
		designed = len(options)
		options = append(options, engine.Option{Label: "Design your own with " + s.t.o.face(policy.Gandalf).MenuName(),
			Hint: "say a world or a character in your own words"})
	}
	options = append(options, engine.Option{Label: asTheyAre})
	question := "Which characters shall the party wear?"
	for s.t.ended == "" {
		n := len(options)
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
		var ok bool
		switch {
		case n == designed:
			ok, err = s.design("")
		case n < 0 || n >= len(packs):
			return nil
		default:
			ok, err = s.preview(packs[n])
		}
		if ok {
			s.notes = nil // what came before is over
		}
		if err != nil || ok {
			return err
		}
		named, question = "", "Which characters shall the party wear?"
		if len(s.notes) > 0 {
			question = strings.Join(s.notes, "\n") + "\n\n" + question
		}
	}
	return nil
}

func (s *setupRun) preview(p packed) (bool, error) {
	yes := []engine.Option{{Label: "Yes, install them"}, {Label: "No, show me others"}}
	c, err := s.t.choose("preview", p.Theme+"\n\n"+p.Table+"\n\nThese?", yes, yes[0].Label, false)
	if err != nil || s.t.ended != "" || chosen(yes, c) != 0 {
		return false, err
	}
	find := func() (*profile.Pack, error) { return s.h.opts.Library.Find(p.Name) }
	if !s.first {
		return s.install(p.Name, p.Theme, find)
	}
	problem, err := plainStep(s.t.r, "install "+p.Name, func() (string, error) {
		pack, err := find()
		if err == nil {
			err = s.wear(pack, nil, false)
		}
		if err != nil {
			return err.Error(), nil
		}
		return "", nil
	})
	return s.wears(p.Theme, problem), err
}

// wears notes what an installation came to.
func (s *setupRun) wears(theme, problem string) bool {
	if problem != "" {
		s.notes = append(s.notes, theme+" was not installed: "+problem)
		return false
	}
	s.worn = theme
	return true
}

// tried is what came of an attempt to install.
type tried struct {
	Problem string   `json:"problem,omitempty"`
	Edited  []string `json:"edited,omitempty"` // what the person edited is in the way
	Others  []string `json:"others,omitempty"` // the archetypes whose profiles are not
}

// install dresses the party. What the person edited by hand is theirs, and they
// are asked what is to become of it.
func (s *setupRun) install(name, theme string, find func() (*profile.Pack, error)) (bool, error) {
	try := func(step string, only []string, force bool) (tried, error) {
		return plainStep(s.t.r, step+" "+name, func() (tried, error) {
			pack, err := find()
			if err == nil {
				err = s.wear(pack, only, force)
			}
			if edited := (*profile.EditedError)(nil); errors.As(err, &edited) {
				out := tried{Edited: edited.Files}
				for _, q := range pack.Profiles {
					if !slices.Contains(edited.Files, q.Archetype+".md") {
						out.Others = append(out.Others, q.Archetype)
					}
				}
				return out, nil
			}
			if err != nil {
				return tried{Problem: err.Error()}, nil
			}
			return tried{}, nil
		})
	}
	got, err := try("install", nil, false)
	if err == nil && len(got.Edited) > 0 {
		keep := engine.Option{Label: "Keep mine", Hint: "the others are installed"}
		replace := engine.Option{Label: "Replace mine", Hint: "a copy of it is kept"}
		options := []engine.Option{keep, replace, {Label: "Install nothing"}}
		if len(got.Others) == 0 {
			options = options[1:]
		}
		c, err := s.t.choose("edited", "You edited "+strings.Join(got.Edited, ", ")+" by hand.", options, options[0].Label, false)
		if err != nil || s.t.ended != "" {
			return false, err
		}
		switch options[max(chosen(options, c), 0)].Label {
		case keep.Label:
			got, err = try("install beside", got.Others, false)
		case replace.Label:
			got, err = try("install over", nil, true)
		default:
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	if len(got.Edited) > 0 {
		got.Problem = strings.Join(got.Edited, ", ") + " was edited meanwhile"
	}
	return s.wears(theme, got.Problem), err
}

// wear installs a pack. One of the project's own is somebody's text, and needs
// the person's yes like any other.
func (s *setupRun) wear(pack *profile.Pack, only []string, force bool) error {
	for _, q := range pack.Profiles {
		if pack.Origin != profile.FromProject {
			break
		}
		if err := s.h.opts.Trust.Vouch(path.Join("profile-packs", pack.Name, q.Archetype+".md"), q.Bytes()); err != nil {
			return err
		}
	}
	if _, err := (profile.Project{Dir: s.h.opts.Root}).Install(pack, only, force); err != nil {
		return err
	}
	for _, q := range pack.Profiles {
		if len(only) > 0 && !slices.Contains(only, q.Archetype) {
			continue
		}
		if err := s.h.opts.Trust.Grant(profileFile(q.Archetype), q.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// customise offers to change one or another.
func (s *setupRun) customise() error {
	if s.first {
		return s.customiseFirst()
	}
	done := engine.Option{Label: "Done"}
	for s.t.ended == "" {
		now, err := plainStep(s.t.r, "worn", func() (Opening, error) {
			return s.h.readOpening(policy.Gandalf, "setup", quest.PurposeSetup, true)
		})
		if err != nil {
			return err
		}
		options := []engine.Option{done}
		for _, a := range dressable() {
			face := now.face(policy.Role(a.ID))
			options = append(options, engine.Option{Label: face.Emoji() + " " + face.MenuName(), Hint: a.Core})
		}
		if len(s.t.turns) == 0 {
			s.t.o.Skins = now.Skins // Gandalf has not spoken yet, and will as he is now
		}
		c, err := s.t.choose("customise", "This is the party now. Change one of them?", options, done.Label, false)
		n := chosen(options, c)
		if err != nil || s.t.ended != "" || n <= 0 {
			return err
		}
		who := dressable()[n-1]
		if err := s.change(who, now); err != nil {
			return err
		}
	}
	return nil
}

// dressable are those whom a pack dresses.
func dressable() []profile.Archetype {
	return slices.DeleteFunc(profile.Cast(), func(a profile.Archetype) bool { return a.Kind == profile.Educator })
}

// change gives one of them a name, an emoji, another profile or none.
func (s *setupRun) change(who profile.Archetype, now Opening) error {
	face := now.face(policy.Role(who.ID))
	options := []engine.Option{{Label: "Leave as it is"}, {Label: "Take it from another pack"},
		{Label: "Design it with " + now.face(policy.Gandalf).MenuName()}}
	if face.Skin != "" {
		options = append(options, engine.Option{Label: "Take the profile off"})
	}
	c, err := s.t.choose("change", face.MenuName()+": type a new name or an emoji, or choose.", options, options[0].Label, true)
	if err != nil || s.t.ended != "" {
		return err
	}
	var did func() error
	project := profile.Project{Dir: s.h.opts.Root}
	switch chosen(options, c) {
	case 0:
		return nil
	case 1:
		return s.borrow(who)
	case 2:
		_, err := s.design(who.ID)
		return err
	case 3:
		did = func() error {
			_, err := project.Remove(who.ID, true) // it is kept
			return err
		}
	default:
		// In quotes, a name may look like a number or like one of these lines.
		name := strings.Trim(strings.TrimSpace(c.Free), `"“”`)
		did = func() error { return s.rename(who, name) }
		s.t.typed(c.Free)
	}
	return s.changed("change "+who.ID, face, did)
}

// changed runs one change as a step; what is in its way becomes a note.
func (s *setupRun) changed(step string, face profile.Face, do func() error) error {
	problem, err := plainStep(s.t.r, step, func() (string, error) {
		if err := do(); err != nil {
			return err.Error(), nil
		}
		return "", nil
	})
	if err == nil && problem != "" {
		s.notes = append(s.notes, face.MenuName()+" stays as it is: "+problem)
	}
	return err
}

// borrow takes one profile out of a pack.
func (s *setupRun) borrow(who profile.Archetype) error {
	packs, err := s.packs()
	if err != nil {
		return err
	}
	options := []engine.Option{{Label: "None of them"}}
	for _, p := range packs {
		options = append(options, engine.Option{Label: p.Theme, Hint: p.Name})
	}
	c, err := s.t.choose("borrow", "From which pack?", options, options[0].Label, false)
	n := chosen(options, c)
	if err != nil || s.t.ended != "" || n <= 0 {
		return err
	}
	return s.changed("borrow "+who.ID, s.t.o.face(policy.Role(who.ID)), func() error {
		pack, err := s.h.opts.Library.Find(packs[n-1].Name)
		if err != nil {
			return err
		}
		return s.wear(pack, []string{who.ID}, true) // they chose it; the old one is kept
	})
}

// customiseFirst is what the first version asked.
func (s *setupRun) customiseFirst() error {
	done := engine.Option{Label: "Done"}
	for s.t.ended == "" {
		options := []engine.Option{done}
		for _, a := range dressable() {
			options = append(options, engine.Option{Label: a.Title})
		}
		c, err := s.t.choose("customise", "Change the name of one of them?", options, done.Label, false)
		n := chosen(options, c)
		if err != nil || s.t.ended != "" || n <= 0 {
			return err
		}
		who := dressable()[n-1]
		name, err := s.t.ask("name", engine.Question{Text: "The new name of " + who.Title + ":"})
		if err != nil || s.t.ended != "" {
			return err
		}
		err = s.changed("rename "+who.ID, s.t.o.face(policy.Role(who.ID)), func() error { return s.rename(who, strings.TrimSpace(name)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// rename gives somebody a name, or an emoji when that is what was typed.
func (s *setupRun) rename(who profile.Archetype, name string) error {
	emoji := ""
	if profile.IsEmoji(name) && !s.first {
		name, emoji = "", name
	} else if err := profile.CheckSkinName(name); err != nil {
		return err
	}
	project := profile.Project{Dir: s.h.opts.Root}
	party, _, err := project.Party()
	if err != nil {
		return err
	}
	data, trusted := profile.Plain(who, cmp.Or(name, who.Title), "Custom", emoji), true
	if p := party[who.ID]; p != nil {
		trusted = s.h.opts.Trust.Vouch(profileFile(who.ID), p.Bytes()) == nil
		if data, err = p.Rename(name, emoji); err != nil {
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
