package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/config"
	"conclave/gate"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/judging"
	"conclave/trust"
	door "conclave/workspace"
)

// Where a workspace holds texts that need trust.
const (
	instructionsDir = ".campaign/instructions"
	profilesDir     = ".campaign/profiles"
	packsDir        = "profile-packs"
)

// vouchFor refuses items that the person has not said yes to.
func (w *workspace) vouchFor(items []trust.Item) error {
	if w.vouched {
		return nil
	}
	if err := w.trust.Upgrade(w.root, w.firstVersionItems); err != nil {
		return environmentError("%w", err)
	}
	if err := w.trust.Check(w.root, items); err != nil {
		return environmentError("%s: %w", w.root, err)
	}
	return nil
}

// askedOf has an error say that the yes is to be given to something by its name:
// the words of trust.Missing end with the command that asks for a workspace's.
func askedOf(err error, name string) error {
	if missing := new(trust.Missing); !errors.As(err, &missing) {
		return err
	}
	return environmentError("%w %s", err, name)
}

// Vouch implements flow.Trust: is this text, in this place, trusted?
func (w *workspace) Vouch(name string, text []byte) error {
	return w.vouchFor([]trust.Item{{Name: name, Text: text}})
}

// Grant implements flow.Trust: the person had this written here.
func (w *workspace) Grant(name string, text []byte) error {
	return w.trust.Grant(w.root, []trust.Item{{Name: name, Text: text}})
}

// item reads one file that need not be there.
func (w *workspace) item(name, file string, most int64) ([]trust.Item, error) {
	data, err := w.door.Read(file, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", w.root, err)
	}
	return []trust.Item{{Name: name, Text: data}}, nil
}

func (w *workspace) configItems() ([]trust.Item, error) {
	return w.item(config.FileName, config.FileName, door.MaxConfig)
}

// roleItems are the texts that are used for a role: its instructions, and the
// script of one that is scripted.
func (w *workspace) roleItems(role string) ([]trust.Item, error) {
	file := path.Join(instructionsDir, role+".md")
	items, err := w.item(file, file, door.MaxText)
	if err != nil {
		return nil, err
	}
	if a := w.config.For(role); a.Agent == "scripted" {
		more, err := w.item(scriptItem(a.Script), a.Script, door.MaxText)
		return append(items, more...), err
	}
	return items, nil
}

func scriptItem(file string) string { return "the script " + file }

// checkItems are the commands of the criteria's checks.
func (w *workspace) checkItems() ([]trust.Item, error) {
	data, err := w.door.Read(quest.QuestFile, door.MaxQuest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.root, err)
	}
	return checkItemsOf(quest.Parse(data).Criteria), nil
}

// checkItemsOf are the commands of the checks of criteria.
func checkItemsOf(criteria []quest.Criterion) []trust.Item {
	var items []trust.Item
	for _, c := range criteria {
		if c.Check != "" {
			items = append(items, trust.Item{Name: judging.CheckName(c), Text: []byte(c.Check)})
		}
	}
	return items
}

// filesIn are the texts below a directory that can be used: those that end in
// .md, however it is written. What is not opened is named, whatever it ends in.
func (w *workspace) filesIn(dir string) (items []trust.Item, refused []error) {
	for _, f := range w.door.Files(dir, door.MaxText) {
		if f.Err != nil {
			refused = append(refused, f.Err)
			continue
		}
		if strings.EqualFold(path.Ext(f.Name), ".md") {
			items = append(items, trust.Item{Name: f.Name, Text: f.Text})
		}
	}
	return items, refused
}

// profileItems are the profiles that the party wears: everybody's prompts name
// everybody by them.
func (w *workspace) profileItems() ([]trust.Item, error) {
	items, refused := w.filesIn(profilesDir)
	if len(refused) > 0 {
		return nil, fmt.Errorf("%s: %w", w.root, errors.Join(refused...))
	}
	return slices.DeleteFunc(items, func(i trust.Item) bool {
		_, ok := profile.Lookup(strings.TrimSuffix(path.Base(i.Name), ".md"))
		return !ok || path.Dir(i.Name) != profilesDir
	}), nil
}

func (w *workspace) vouchForProfiles() error {
	items, err := w.profileItems()
	if err != nil {
		return environmentError("%w", err)
	}
	return w.vouchFor(items)
}

// packItems are the texts of a pack, as they would be installed. Built-in ones
// and those in the person's own library need no trust.
func (w *workspace) packItems(p *profile.Pack) []trust.Item {
	var dir string
	switch p.Origin {
	case profile.FromProject:
		dir = path.Join(packsDir, p.Name)
	case profile.FromPath:
		dir = p.Where
		if rel, err := filepath.Rel(w.root, filepath.FromSlash(dir)); err == nil && filepath.IsLocal(rel) {
			dir = filepath.ToSlash(rel)
		}
	default:
		return nil
	}
	var items []trust.Item
	for _, q := range p.Profiles {
		items = append(items, trust.Item{Name: path.Join(dir, q.Archetype+".md"), Text: q.Bytes()})
	}
	return items
}

// everything is all that a workspace asks to be trusted with, and what of it is
// refused.
func (w *workspace) everything() (items []trust.Item, refused []error) {
	add := func(more []trust.Item, err error) {
		items = append(items, more...)
		if err != nil {
			refused = append(refused, err)
		}
	}
	for _, g := range governing(w.door.Read) {
		switch {
		case g.Dir:
			more, errs := w.filesIn(g.Path)
			items, refused = append(items, more...), append(refused, errs...)
		case g.Path == config.FileName:
			add(w.configItems())
			add(w.checkItems())
		default:
			add(w.item(scriptItem(g.Path), g.Path, door.MaxText))
		}
	}
	return items, refused
}

// governing are the places of a project that say who plays whom, and how: all
// that needs a yes, but for the checks, which stand in the criteria. A gate takes
// them from a commit that the change before it cannot reach.
func governing(read gate.Read) []gate.Governed {
	list := []gate.Governed{
		{Path: config.FileName}, {Path: packsDir, Dir: true}, {Path: instructionsDir, Dir: true}, {Path: profilesDir, Dir: true},
	}
	for _, file := range scriptsIn(read) {
		list = append(list, gate.Governed{Path: file})
	}
	return list
}

// scripts are those that the project's configuration names.
func (w *workspace) scripts() []string { return scriptsIn(w.door.Read) }

func scriptsIn(read gate.Read) []string {
	data, err := read(config.FileName, door.MaxConfig)
	if err != nil {
		return nil
	}
	c, err := config.Parse(data)
	if err != nil {
		return nil
	}
	var files []string
	for _, a := range c.Agents {
		if a.Agent == "scripted" {
			files = append(files, a.Script)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// firstVersionItems are those for which one yes was kept in the first version.
func (w *workspace) firstVersionItems() []trust.Item {
	items, _ := w.everything()
	return slices.DeleteFunc(items, func(i trust.Item) bool {
		text := strings.HasPrefix(i.Name, packsDir+"/") || strings.HasPrefix(i.Name, instructionsDir+"/")
		return strings.HasPrefix(i.Name, profilesDir+"/") || strings.HasPrefix(i.Name, scriptItem("")) ||
			text && !strings.HasSuffix(i.Name, ".md")
	})
}

// instructions are a project's own, where it has some and the person trusts
// them: the bytes that were judged.
func (w *workspace) instructions(role string) ([]byte, error) {
	file := path.Join(instructionsDir, role+".md")
	items, err := w.item(file, file, door.MaxText)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	return items[0].Text, w.vouchFor(items)
}
