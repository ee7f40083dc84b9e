package app

import (
	"path"
	"strings"

	"conclave/policy"
	"conclave/profile"
	door "conclave/workspace"
)

// Faults are what is wrong with profiles that were asked for.
type Faults []Fault

func (Faults) isEvent() {}

// profileProject is the workspace that the working directory belongs to.
func (a *App) profileProject() (profile.Project, error) {
	root, err := a.findRoot()
	return profile.Project{Dir: root}, err
}

// recoveredParty reads the profiles after finishing what a kill interrupted.
func (a *App) recoveredParty() (profile.Project, profile.Party, []Fault, error) {
	project, err := a.profileProject()
	if err != nil {
		return project, nil, nil, err
	}
	if !a.sayCameAlong(project.Dir) { // else nobody knows what was interrupted
		if err := project.Recover(); err != nil {
			return project, nil, nil, environmentError("%w", err)
		}
	}
	party, faults, err := project.Party()
	if err != nil {
		return project, nil, nil, environmentError("%w", err)
	}
	return project, party, faults, nil
}

// party is how the cast appears here; a faulty profile is not worn.
func (a *App) party() (profile.Party, error) {
	root, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	party, _, err := profile.Project{Dir: root}.Party()
	return party, refusedHere(err)
}

// archetype finds a member of the cast by any of its names. An error names them, and
// what else the caller takes.
func (a *App) archetype(name string, beside ...string) (profile.Archetype, error) {
	if x, ok := profile.Lookup(name); ok {
		return x, nil
	}
	party, err := a.party()
	if err != nil {
		return profile.Archetype{}, err
	}
	x, err := party.Find(name, beside...)
	if err != nil {
		return x, usageError("%w", err)
	}
	return x, nil
}

// roleOf is the role that a name means: one of the table of roles, or a member of
// the cast by the name that it wears.
func (a *App) roleOf(name string) (policy.Role, error) { return a.roleAmong(name, policy.Roles()) }

// roleAmong is roleOf for who wants one of some: an error names those.
func (a *App) roleAmong(name string, roles []policy.Role) (policy.Role, error) {
	if role := policy.Role(strings.ToLower(strings.TrimSpace(name))); role.Known() {
		return role, nil
	}
	var others []string
	for _, role := range roles {
		if _, cast := profile.Lookup(string(role)); !cast {
			others = append(others, string(role))
		}
	}
	x, err := a.archetype(name, others...)
	return policy.Role(x.ID), err
}

// profileFile is where a profile that is worn lies in a workspace.
func profileFile(id string) string { return path.Join(profilesDir, id+".md") }

// faultsOf are those of the profile that an archetype would wear.
func faultsOf(id string, faults []Fault) Faults {
	var own Faults
	for _, f := range faults {
		if f.File == profileFile(id) {
			own = append(own, f)
		}
	}
	return own
}

// ProfileList is the cast as it appears in a campaign.
type ProfileList struct {
	Profiles []Profile `json:"profiles"`
	Faults   []Fault   `json:"faults"`
}

// Profiles is who is who in this campaign. The answer is no when a profile is
// faulty.
func (a *App) Profiles() (ProfileList, error) {
	project, party, faults, err := a.recoveredParty()
	if err != nil {
		return ProfileList{}, err
	}
	list := ProfileList{Faults: append([]Fault{}, faults...)}
	for _, x := range profile.Cast() {
		face, _ := party.Face(x.ID)
		v := Profile{Archetype: x.ID, Emoji: face.Emoji(), Tag: face.Tag(), MenuName: face.MenuName()}
		if p := party[x.ID]; p != nil {
			v = viewProfile(p)
		}
		if v.Status, err = project.Status(x.ID); err != nil {
			return list, environmentError("%w", err)
		}
		list.Profiles = append(list.Profiles, v)
	}
	return list, noUnless(len(faults) == 0)
}

// Profile is the one that an archetype wears.
func (a *App) Profile(id string) (Profile, error) {
	x, err := a.archetype(id)
	if err != nil {
		return Profile{}, err
	}
	id = x.ID
	_, party, faults, err := a.recoveredParty()
	if err != nil {
		return Profile{}, err
	}
	p := party[id]
	if p == nil {
		if own := faultsOf(id, faults); len(own) > 0 {
			a.show(own)
		}
		return Profile{}, noError("the %s wears no profile; its core: %s", id, x.Core)
	}
	v := viewProfile(p)
	v.Text = string(p.Bytes())
	return v, nil
}

// ProfileChoice is what a profile is made of: one from a pack or a file, or the
// one that is worn, or a plain one; with another name or emoji.
type ProfileChoice struct {
	Name, Emoji, Theme, From, File string
	Force                          bool
}

// SetProfile gives one member of the cast a profile, a name or an emoji.
func (a *App) SetProfile(id string, c ProfileChoice) (Profile, error) {
	x, err := a.archetype(id)
	if err != nil {
		return Profile{}, err
	}
	id = x.ID
	if c == (ProfileChoice{Force: c.Force, Theme: c.Theme}) {
		return Profile{}, usageError("say what to set: --name, --emoji, --from or --file")
	}
	w, err := a.enterToChange()
	if err != nil {
		return Profile{}, err
	}
	project := profile.Project{Dir: w.root}
	base, carriesOn, err := a.baseProfile(w, project, x, c)
	if err != nil {
		return Profile{}, err
	}
	data := base.Bytes()
	if c.Name != "" || c.Emoji != "" {
		if data, err = base.Rename(c.Name, c.Emoji); err != nil {
			return Profile{}, usageError("%w", err)
		}
	}
	if _, err := project.Set(id, data, c.Force || carriesOn); err != nil {
		return Profile{}, changeError(err)
	}
	if !carriesOn || w.wornTrusted(base) {
		if err := w.grantProfile(id, data); err != nil {
			return Profile{}, err
		}
	}
	party, _, err := project.Party()
	if err != nil {
		return Profile{}, environmentError("%w", err)
	}
	face, _ := party.Face(id)
	return Profile{Archetype: id, Tag: face.Tag(), MenuName: face.MenuName()}, nil
}

// baseProfile is what a name or an emoji is put on. It reports whether that is
// the worn profile itself, whose edits are carried on.
func (a *App) baseProfile(
	w *workspace, project profile.Project, x profile.Archetype, c ProfileChoice,
) (*profile.Profile, bool, error) {
	switch {
	case c.From != "":
		pack, err := a.openPack(c.From)
		if err != nil {
			return nil, false, err
		}
		if p := pack.Profile(x.ID); p != nil && len(pack.Faults) == 0 {
			return p, false, w.vouchForPack(pack, c.From)
		}
		a.show(Faults(pack.Faults))
		return nil, false, noError("pack %s has no faultless profile for the %s", pack.Name, x.ID)
	case c.File != "":
		data, err := door.ReadNamed(a.AbsPath(c.File), door.MaxText)
		if err != nil {
			return nil, false, namedError("%w", err)
		}
		// The file may have any name; it is to become the archetype's.
		return a.parseProfile(x, data, c.File)
	}
	party, faults, err := project.Party()
	if err != nil {
		return nil, false, environmentError("%w", err)
	}
	if p := party[x.ID]; p != nil {
		return p, true, nil
	}
	if own := faultsOf(x.ID, faults); len(own) > 0 {
		return nil, false, noError("the profile that is there is faulty: %s", own[0])
	}
	if c.Name == "" {
		return nil, false, usageError("the %s wears no profile yet: say --name, --from or --file", x.ID)
	}
	if err := profile.CheckSkinName(c.Name); err != nil {
		return nil, false, usageError("%w", err)
	}
	theme := c.Theme
	if theme == "" {
		theme = "Custom"
	}
	return a.parseProfile(x, profile.Plain(x, c.Name, theme, c.Emoji), "the plain profile")
}

func (a *App) parseProfile(x profile.Archetype, data []byte, name string) (*profile.Profile, bool, error) {
	p, faults := profile.Parse(x.ID+".md", data)
	if len(faults) > 0 {
		a.show(Faults(faults))
		return nil, false, noError("%s has %s and was not set", name, countOf(len(faults), "fault"))
	}
	return p, false, nil
}

// RemoveProfile takes a profile off; the archetype appears as itself again.
func (a *App) RemoveProfile(id string, force bool) error {
	x, err := a.archetype(id)
	if err != nil {
		return err
	}
	id = x.ID
	project, err := a.profileProject()
	if err == nil {
		err = a.cameAlong(project.Dir)
	}
	if err != nil {
		return err
	}
	change, err := project.Remove(id, force)
	if err != nil {
		return changeError(err)
	}
	if len(change.Removed) == 0 {
		return noError("the %s wears no profile", id)
	}
	return nil
}

// vouchForPack refuses a pack that is somebody's and not trusted, wherever it
// lies.
func (w *workspace) vouchForPack(p *profile.Pack, name string) error {
	err := w.vouchFor(w.packItems(p))
	if p.Origin == profile.FromPath {
		return askedOf(err, name)
	}
	return err
}

// wornTrusted: what is carried on under another name is still the text that it
// was; a new name makes nobody trust it.
func (w *workspace) wornTrusted(p *profile.Profile) bool {
	return w.Vouch(profileFile(p.Archetype), p.Bytes()) == nil
}

// grantProfile: what the person had written into the party's profiles is trusted
// from then on.
func (w *workspace) grantProfile(id string, data []byte) error {
	return refusedHere(w.Grant(profileFile(id), data))
}
