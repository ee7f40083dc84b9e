package app

import (
	"path"
	"path/filepath"
	"strings"

	"conclave/quest"
	"conclave/trust"
	door "conclave/workspace"
)

// Trust is what a workspace asks to be trusted with.
type Trust struct {
	Workspace string      `json:"workspace"`
	Items     []trustItem `json:"items"`
	Refused   []string    `json:"refused"`
	Trusted   bool        `json:"trusted"`

	w     *workspace
	items []trust.Item
	login *App // whose person lends a login, in place of a workspace
}

// trustItem is a text that is used when the person says yes to it.
type trustItem struct {
	Name    string `json:"name"`
	Trusted bool   `json:"trusted"`
	Text    string `json:"-"`
}

// Trust looks at all that the workspace asks for, and at the packs that are
// named, or at files with criteria, whose checks a gate runs. It changes nothing: Grant does.
func (a *App) Trust(packs ...string) (*Trust, error) {
	w, err := a.enter()
	if err != nil {
		return nil, err
	}
	items, refused := w.everything()
	for _, name := range packs {
		if file := a.inRoot(name, w.root); strings.EqualFold(path.Ext(file), ".md") {
			more, err := w.criteriaItems(file)
			if err != nil {
				return nil, err
			}
			items = append(items, more...)
			continue
		}
		p, err := a.openPack(name)
		if err != nil {
			return nil, err
		}
		items = append(items, w.packItems(p)...)
	}
	t := &Trust{
		Workspace: w.root, Items: []trustItem{}, Refused: []string{}, Trusted: w.vouchFor(items) == nil,
		w: w, items: items,
	}
	held, err := w.trust.Holds(w.root, items)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	for n, i := range items {
		t.Items = append(t.Items, trustItem{i.Name, held[n], string(i.Text)})
	}
	for _, err := range refused {
		t.Refused = append(t.Refused, err.Error())
	}
	return t, nil
}

// inRoot is a name as the workspace calls it; as it is where it is not there.
func (a *App) inRoot(name, root string) string {
	rel, err := filepath.Rel(root, a.AbsPath(name))
	if err != nil || !filepath.IsLocal(rel) {
		return name
	}
	return filepath.ToSlash(rel)
}

// criteriaItems are the checks of criteria in a file of the workspace.
func (w *workspace) criteriaItems(file string) ([]trust.Item, error) {
	data, err := w.door.Read(file, door.MaxText)
	if err != nil {
		return nil, namedError("the criteria: %w", err)
	}
	list, err := quest.ReadCriteria(file, data)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	return checkItemsOf(list), nil
}

// Grant keeps the person's yes to exactly what was looked at.
func (t *Trust) Grant() error {
	if t.login != nil {
		return t.lend()
	}
	return refusedHere(t.w.trust.Grant(t.w.root, t.items))
}

// Distrust takes the person's yes back.
func (a *App) Distrust() error {
	w, err := a.enter()
	if err != nil {
		return err
	}
	return w.trust.Revoke(w.root)
}
