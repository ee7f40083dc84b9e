package hostile

import "slices"

// Where files are that are read: as the project's, a table's, and a run's.
var (
	projectPlaces = []string{quest, instruction, profile, pack, "plan.md", ".gitignore"}
	tablePlaces   = []string{story, sheet, diceLog, "campaigns/weir/overview.md", "campaigns/weir/world-primer.md",
		".conclave/tables/weir/log/00000002-commit.json"}
	runPlaces = []string{record, session, bundleFile, packFile, "archive.db", database, ".conclave/profiles/state.json"}
)

// specials are what is no regular file (W18, T3).
func specials() []Workspace {
	all := slices.Concat([]string{config}, projectPlaces, tablePlaces, runPlaces)
	list := []Workspace{
		{Name: "sockets", Touches: all, plant: each(all, socket), Careless: "test -S " + quest + " && echo ALIVE"},
		{Name: "devices", Root: true, Touches: all, plant: each(all, device), Careless: "test -c " + quest + " && echo ALIVE"},
		{Name: "directories in place of files", Touches: all, plant: each(all, directory), Careless: "test -d " + quest + " && echo ALIVE"},
		{Name: "a device in place of the configuration", Root: true, Touches: []string{config}, plant: each([]string{config}, device),
			Careless: "test -c " + config + " && echo ALIVE"},
	}
	for _, where := range []struct {
		name   string
		places []string
	}{
		{"the configuration", []string{config}}, {"the project's files", projectPlaces},
		{"a table's files", tablePlaces}, {"the files of runs", runPlaces},
	} {
		list = append(list, Workspace{Name: "FIFOs in place of " + where.name, Touches: where.places,
			plant: each(where.places, fifo), Careless: "test -p " + where.places[0] + " && echo ALIVE"})
	}
	return list
}
