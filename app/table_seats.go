package app

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"conclave/config"
	"conclave/table"
)

// checkCharacters refuses a seat of the project's file that is named after nobody
// of any campaign here: whoever misspells a name would play with somebody else,
// and not know it. The person's own file may speak of other workspaces.
func (w *workspace) checkCharacters() error {
	var party table.Roster
	for _, key := range slices.Sorted(maps.Keys(w.project.Agents)) {
		seat, character, named := strings.Cut(key, ".")
		if !named {
			continue
		}
		if party.Characters == nil {
			party.Characters = w.everybody()
		}
		if _, ok := party.Get(character); ok || len(party.Characters) == 0 {
			continue
		}
		hint := "there are " + strings.Join(party.Slugs(), ", ")
		if near := party.Suggest(character); near != "" {
			hint = "did you mean " + seat + "." + near + "?"
		}
		return environmentError("%s: agents: %s: no campaign here has a character %s; %s",
			filepath.Join(w.root, config.FileName), key, character, hint)
	}
	return nil
}

// everybody are the characters of all campaigns here. What is wrong with one of
// them is said when it is played.
func (w *workspace) everybody() []table.Character {
	out := []table.Character{}
	names, err := table.Campaigns(w.root)
	if err != nil {
		return out
	}
	for _, name := range names {
		party, err := table.OpenDir(filepath.Join(w.root, "campaigns", name, "party"))
		if err != nil {
			continue
		}
		if roster, err := table.LoadRoster(party, nil, table.Caps{}.WithDefaults()); err == nil {
			out = append(out, roster.Characters...)
		}
		party.Close()
	}
	return out
}
