package hostile

// links lead out of the workspace, in a circle, or to what never ends.
func links() []Workspace {
	moving := func(name string) Workspace {
		return Workspace{Name: "link out: " + name, Touches: []string{name, name + "/"}, plant: moved(name),
			Careless: "grep -rh canarybird " + name + "/ " + name}
	}
	to := func(name, target string) Workspace {
		return Workspace{Name: "link out: " + name, Touches: []string{name}, plant: link(name, target), Careless: "grep -a canarybird " + name}
	}
	list := []Workspace{
		moving(".campaign"), moving(".campaign/instructions"), moving("profile-packs"), moving("campaigns"), moving("campaigns/weir"),
		moving("work"),
		moving(quest), moving(profile), moving(pack), moving(story), moving(sheet), moving(instruction),
		to(config, "$OUTSIDE/secret.yaml"), to("plan.md", "$OUTSIDE/secret.txt"), to("idea.md", "$OUTSIDE/secret.txt"),
		to(session, "$OUTSIDE/"+session),
		to(".gitignore", "$OUTSIDE/secret.txt"), // W16
		to(record, "$OUTSIDE/secret.record"),
		{Name: "link out: a bundle", Touches: []string{bundleFile}, plant: link(bundleFile, "$OUTSIDE/"+bundleFile),
			Careless: "readlink " + bundleFile + " | grep -q outside && echo ALIVE"},
	}
	return append(list, ownFiles()...)
}

// ownFiles are links in place of what the program writes itself (W15), in
// circles, and to what is no file of anybody.
func ownFiles() []Workspace {
	places := []string{config, instruction, quest, story, record, profile, pack, session, "plan.md"}
	everywhere := func(target string) func(Place) error {
		return each(places, func(p Place, name string) error { return link(name, target)(p) })
	}
	outside := func(name string) Workspace {
		return Workspace{Name: "written elsewhere: " + name, Touches: []string{name, name + "/"}, plant: moved(name),
			Careless: "cd " + name + "/ && pwd -P | grep -q /moved/ && echo ALIVE"}
	}
	database := Workspace{Name: "written elsewhere: the engine's database", Touches: []string{database}, plant: moved(database),
		Careless: "readlink " + database + " | grep -q /moved/ && echo ALIVE"}
	return []Workspace{
		outside(".conclave"), outside(".conclave/records"), outside(".conclave/tables/weir"), database,
		{Name: "links in a circle", Touches: append([]string{".campaign/", "campaigns/weir/"}, places...),
			Careless: "cat " + config + " 2>&1 | grep -q 'symbolic links' && echo ALIVE",
			plant: steps(link(config, config), link("profile-packs/again", "."), link("campaigns/weir/party/again", ".."),
				link(".campaign/profiles/again", "../.."), link("work/again", ".."), link(quest, "quest.md"))},
		{Name: "links to the zero device", Touches: places, plant: everywhere("/dev/zero"),
			Careless: "head -c 3 " + config + " | od -An -c | grep -q '0 .*0' && echo ALIVE"}, // W17
		{Name: "a configuration that is a link to the zero device", Touches: []string{config}, plant: link(config, "/dev/zero"),
			Careless: "test -c " + config + " && echo ALIVE"},
		{Name: "links to the terminal", Touches: places, plant: everywhere("/dev/tty"), Careless: "test -c " + quest + " && echo ALIVE"},
		{Name: "links to the environment", Touches: places, plant: everywhere("/proc/self/environ"),
			Careless: "CANARY=$CANARY cat " + instruction},
		{Name: "instructions that are a link to the environment", Touches: []string{instruction},
			plant: link(instruction, "/proc/self/environ"), Careless: "CANARY=$CANARY cat " + instruction},
		{Name: "hard links", Touches: []string{instruction, "plan.md", story}, Careless: "cat " + instruction,
			plant: steps(hard(instruction, "secret.txt"), hard("plan.md", "secret.txt"), hard("work/report.md", "secret.txt"))},
		{Name: "a save point of links", Touches: []string{".conclave/tables/weir/saves/"},
			Careless: "cat .conclave/tables/weir/saves/dusk/campaign/story-state.md",
			plant: steps(link(".conclave/tables/weir/saves/dusk/campaign/story-state.md", "$OUTSIDE/secret.txt"),
				link(".conclave/tables/weir/saves/dusk/campaign/party", "$OUTSIDE"))},
	}
}
