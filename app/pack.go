package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/config"
	"conclave/policy"
	"conclave/profile"
	door "conclave/workspace"
)

// Fault is what is wrong with a profile or a pack, and what to do about it.
type Fault = profile.Fault

// Pack is nine profiles of one theme, as it is shown.
type Pack struct {
	Name     string         `json:"name"`
	Origin   profile.Origin `json:"origin"`
	Where    string         `json:"where"`
	Theme    string         `json:"theme"`
	Profiles []Profile      `json:"profiles"`
	Faults   []Fault        `json:"faults"`
}

// Profile is how a member of the cast appears.
type Profile struct {
	Archetype string         `json:"archetype"`
	SkinName  string         `json:"skin-name"`
	Theme     string         `json:"theme"`
	Emoji     string         `json:"emoji"`
	Depth     profile.Depth  `json:"depth"`
	Tag       string         `json:"tag"`
	MenuName  string         `json:"menu-name"`
	FilePart  string         `json:"file-part"`
	Status    profile.Status `json:"status,omitempty"`
	Text      string         `json:"text,omitempty"`
	// Concept and Words are what it says, section by section; Core is the
	// archetype's own.
	Concept string `json:"-"`
	Words   string `json:"-"`
	Core    string `json:"-"`
}

func viewPack(p *profile.Pack) *Pack {
	v := &Pack{Name: p.Name, Origin: p.Origin, Where: p.Where, Theme: p.Theme, Faults: append([]Fault{}, p.Faults...)}
	for _, q := range p.Profiles {
		v.Profiles = append(v.Profiles, viewProfile(q))
	}
	return v
}

func viewProfile(p *profile.Profile) Profile {
	f := p.Face()
	words := p.Concept + "\n\n" + p.Voice
	if p.Modifiers != "" {
		words += "\n\n" + p.Modifiers
	}
	return Profile{Archetype: p.Archetype, SkinName: p.SkinName, Theme: p.Theme, Emoji: f.Emoji(), Depth: p.Depth,
		Tag: f.Tag(), MenuName: f.MenuName(), FilePart: f.FilePart(),
		Concept: p.Concept, Words: words, Core: f.Archetype.Core}
}

// packLibrary is the search path for packs.
func (a *App) packLibrary() (profile.Library, error) {
	root, err := a.findRoot()
	l := profile.Library{Project: filepath.Join(root, packsDir)}
	if data := a.userDataDir(); data != "" {
		l.User = filepath.Join(data, "conclave", packsDir)
	}
	return l, err
}

// openPack finds a pack by name, or by path if it looks like one.
func (a *App) openPack(name string) (*profile.Pack, error) {
	if strings.ContainsAny(name, `/\`) || profile.IsArchive(name) || name == "." || name == ".." {
		p, err := profile.Load(a.AbsPath(name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usageError("there is no pack at %s", name)
		}
		if err != nil {
			return nil, environmentError("%w", err)
		}
		a.shortenFaults(p.Faults)
		return p, nil
	}
	library, err := a.packLibrary()
	if err != nil {
		return nil, err
	}
	p, err := library.Find(name)
	if err != nil {
		return nil, usageError("%w", err)
	}
	a.shortenFaults(p.Faults)
	return p, nil
}

// shortenFaults makes the files of faults relative to where the person is.
func (a *App) shortenFaults(faults []Fault) {
	for i, f := range faults {
		if rest, ok := strings.CutPrefix(f.File, filepath.ToSlash(a.Dir)+"/"); ok {
			faults[i].File = rest
		}
	}
}

// soundPack is a pack that can be used; the faults of another are shown.
func (a *App) soundPack(name, not string) (*profile.Pack, error) {
	p, err := a.openPack(name)
	if err == nil && len(p.Faults) > 0 {
		a.show(Faults(p.Faults))
		return nil, noError("pack %s has %s and was not %s", p.Name, countOf(len(p.Faults), "fault"), not)
	}
	return p, err
}

// Packs are those that can be found.
func (a *App) Packs() ([]*Pack, error) {
	library, err := a.packLibrary()
	if err != nil {
		return nil, err
	}
	packs, err := library.List()
	if err != nil {
		return nil, environmentError("%w", err)
	}
	views := []*Pack{}
	for _, p := range packs {
		views = append(views, viewPack(p))
	}
	return views, nil
}

// Pack is one pack with every text.
func (a *App) Pack(name string) (*Pack, error) {
	p, err := a.openPack(name)
	if err != nil {
		return nil, err
	}
	v := viewPack(p)
	for i, q := range p.Profiles {
		v.Profiles[i].Text = string(q.Bytes())
	}
	return v, nil
}

// PreviewPack is a pack with the status of each profile that installing it
// would meet here.
func (a *App) PreviewPack(name string) (*Pack, error) {
	v, err := a.Pack(name)
	if err != nil {
		return nil, err
	}
	project, err := a.profileProject()
	if err != nil {
		return nil, err
	}
	for i, q := range v.Profiles {
		if v.Profiles[i].Status, err = project.Status(q.Archetype); err != nil {
			return nil, environmentError("%w", err)
		}
	}
	return v, nil
}

// Validation is what was found in one pack or profile.
type Validation struct {
	Path      string         `json:"path"`
	Pack      string         `json:"pack,omitempty"`
	Faults    []Fault        `json:"faults"`
	Checklist []profile.Item `json:"checklist,omitempty"`
}

// ValidatePacks checks packs or single profiles; with review the mentor is asked
// what rules cannot find. The answer is no when one has a fault: what the mentor
// thinks is an opinion.
func (a *App) ValidatePacks(ctx context.Context, names []string, review bool) (_ []Validation, err error) {
	if !review {
		return a.validatePacks(ctx, names, nil)
	}
	c, err := a.openQuest("pack validate", Talk{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	judge, err := c.judge()
	if err != nil {
		return nil, err
	}
	return a.validatePacks(ctx, names, judge)
}

func (a *App) validatePacks(ctx context.Context, names []string, judge profile.Judge) ([]Validation, error) {
	var results []Validation
	faults := 0
	for _, name := range names {
		v, err := a.validatePack(ctx, name, judge)
		if err != nil {
			return nil, err
		}
		results = append(results, v)
		faults += len(v.Faults)
	}
	return results, noUnless(faults == 0)
}

// judge is the mentor, where he has a model to judge with.
func (c *questSession) judge() (profile.Judge, error) {
	role := string(policy.Gandalf)
	if c.w.config.For(role).Agent == "offline" {
		return noJudge{}, nil
	}
	if err := c.available(role); err != nil {
		return nil, err
	}
	if err := c.w.makePrivate(); err != nil {
		return nil, err
	}
	c.budget.recount()
	return c.house, answerNo(c.budget.Afford())
}

// noJudge is the mentor without a model.
type noJudge struct{}

func (noJudge) Judge(context.Context, *profile.Pack, []profile.Question) (map[string]profile.Opinion, error) {
	return nil, fmt.Errorf("the embedded mentor has no model to judge with; docs/agents.md says how to seat one as gandalf in %s",
		config.FileName)
}

func (a *App) validatePack(ctx context.Context, name string, judge profile.Judge) (Validation, error) {
	v := Validation{Path: name, Faults: []Fault{}}
	info, err := os.Stat(a.AbsPath(name))
	if err == nil && !info.IsDir() && strings.HasSuffix(strings.ToLower(name), ".md") {
		data, err := door.ReadNamed(a.AbsPath(name), door.MaxText)
		if err != nil {
			return v, environmentError("%w", err)
		}
		_, faults := profile.Parse(name, data)
		v.Faults = append(v.Faults, faults...)
		return v, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return v, environmentError("%w", err)
	}
	if err == nil {
		name = a.AbsPath(name) // a path without a slash is a path all the same
	}
	p, err := a.openPack(name)
	if err != nil {
		return v, err
	}
	v.Pack = p.Name
	v.Faults = append(v.Faults, p.Faults...)
	if len(p.Faults) > 0 {
		judge = nil // first what rules can find
	}
	v.Checklist = profile.Review(ctx, p, judge)
	return v, nil
}

// NewPack writes nine templates for a pack and returns their directory.
func (a *App) NewPack(name, theme string) (string, error) {
	if profile.Slug(name) != name {
		return "", usageError("a pack's name is lower case with hyphens: %q could be %q", name, profile.Slug(name))
	}
	root, err := a.findRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, packsDir, name)
	if err := profile.NewPack(dir, theme); err != nil {
		return "", usageError("%w", err)
	}
	if rel, err := filepath.Rel(a.Dir, dir); err == nil {
		dir = rel
	}
	return filepath.ToSlash(dir), nil
}

// ExportPack writes a pack's files to a new directory or archive, and says how
// many profiles it has.
func (a *App) ExportPack(name, to string) (int, error) {
	p, err := a.soundPack(name, "exported")
	if err != nil {
		return 0, err
	}
	if err := p.Export(a.AbsPath(to)); err != nil {
		return 0, environmentError("%w", err)
	}
	return len(p.Profiles), nil
}

// Installed is what installing a pack came to.
type Installed struct {
	Pack    *Pack
	Written int
	Worn    []Profile
	Kept    string // where the former profiles are
	// Doubts are what the mentor thinks does not hold, of a pack that did not come
	// with the program, where he has a model to judge with. They are opinions.
	Doubts []profile.Item
}

// EditedError: profiles that the person edited are in the way.
type EditedError = profile.EditedError

// InstallPack dresses the campaign in a pack, all of it or what only names.
// Profiles that the person edited are in the way (EditedError) but for force,
// which keeps them.
func (a *App) InstallPack(ctx context.Context, name string, only []string, force bool) (*Installed, error) {
	for i, name := range only {
		x, err := a.archetype(name)
		if err != nil || x.Kind == profile.Educator {
			return nil, usageError("--only: %q is in no pack", name)
		}
		only[i] = x.ID
	}
	p, err := a.soundPack(name, "installed")
	if err != nil {
		return nil, err
	}
	w, err := a.enterToChange()
	if err != nil {
		return nil, err
	}
	if err := w.vouchForPack(p, name); err != nil {
		return nil, err
	}
	change, err := profile.Project{Dir: w.root}.Install(p, only, force)
	if err != nil {
		return nil, changeError(err)
	}
	out := &Installed{Pack: viewPack(p), Written: len(change.Written), Kept: change.Kept}
	if p.Origin != profile.FromBuiltin && len(change.Written) > 0 {
		out.Doubts = a.doubts(ctx, p)
	}
	for i, q := range p.Profiles {
		if len(only) > 0 && !slices.Contains(only, q.Archetype) {
			continue
		}
		if err := w.grantProfile(q.Archetype, q.Bytes()); err != nil {
			return nil, err
		}
		out.Worn = append(out.Worn, out.Pack.Profiles[i])
	}
	return out, nil
}

// doubts are what the mentor thinks is wrong with a pack. Where he has no model,
// may not be asked or does not answer there are none: nothing depends on it.
func (a *App) doubts(ctx context.Context, p *profile.Pack) []profile.Item {
	c, err := a.openQuest("pack install", Talk{})
	if err != nil {
		return nil
	}
	defer c.close()
	judge, err := c.judge()
	if _, nobody := judge.(noJudge); err != nil || nobody {
		return nil
	}
	a.aside("%s reads the pack.", c.face(policy.Gandalf).Name())
	return slices.DeleteFunc(profile.Review(ctx, p, judge), func(i profile.Item) bool { return !i.Judged || i.Holds })
}

// UndoPack takes the last change of profiles back.
func (a *App) UndoPack(force bool) (*profile.Change, error) {
	project, err := a.profileProject()
	if err == nil {
		err = a.cameAlong(project.Dir)
	}
	if err != nil {
		return nil, err
	}
	change, err := project.Undo(force)
	if err != nil {
		return nil, changeError(err)
	}
	return change, nil
}

// countOf says "1 fault" or "7 faults".
func countOf(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// changeError gives an error of a change its kind.
func changeError(err error) error {
	edited, faults := (*profile.EditedError)(nil), (*profile.FaultsError)(nil)
	if errors.As(err, &edited) || errors.As(err, &faults) || errors.Is(err, profile.ErrNothingToUndo) {
		return noError("%w", err)
	}
	return environmentError("%w", err)
}
