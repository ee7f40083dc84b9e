package hostile

import (
	"os"
	"path/filepath"
	"syscall"
)

// others are about owners, rights and names that are nearly ours.
func others() []Workspace {
	planted := steps(programsIn("tools/"), write(config,
		"programs: {claude: tools/claude, codex: tools/codex}\nagents: {default: {agent: claude, model: m}}\n"))
	below := func(p Place) error { return os.MkdirAll(p.path("mine/deep"), 0o755) }
	return []Workspace{
		{Name: "somebody else's parent directory", Root: true, Trust: Fresh, Twin: "below", Dir: "mine/deep",
			Touches: []string{config, quest}, twin: below, Careless: "../../tools/claude",
			plant: steps(below, planted, func(p Place) error { return p.give("", os.ModeSticky|0o777) })},
		{Name: "somebody else's parent directory, trusted before it was theirs", Root: true, Trust: Before, Twin: "below", Dir: "mine/deep",
			Touches: []string{config, quest}, twin: below, Careless: "../../tools/claude",
			plant: steps(below, planted, func(p Place) error { return p.give("", os.ModeSticky|0o777) })},
		{Name: "somebody else's workspace", Root: true, Trust: Fresh, Touches: []string{config}, Careless: "tools/claude",
			plant: steps(planted, func(p Place) error { return p.give("", 0o777) })},
		{Name: "somebody else's files", Root: true, Touches: []string{config, instruction, quest, record},
			Careless: "test $(stat -c %u " + config + ") = $STRANGER && echo ALIVE",
			plant: each([]string{config, instruction, quest, record, story, diceLog, database, ".conclave/records", ".conclave/tables/weir"},
				func(p Place, name string) error { return p.give(name, 0o777) })},
		{Name: "files without rights", Touches: append([]string{config, quest, record, story, database}, runPlaces...),
			Careless: "test $(stat -c %a " + config + ") = 0 && echo ALIVE",
			plant: each(append([]string{config, instruction, quest, profile, pack, story, sheet, diceLog, ".conclave/tables/weir/log",
				".conclave/records"}, runPlaces...), func(p Place, name string) error { return os.Chmod(p.path(name), 0) })},
		{Name: "a workspace that cannot be written", Touches: []string{".conclave/", "campaigns/weir/", ".campaign/"},
			Careless: "test $(stat -c %a .conclave) = 555 && echo ALIVE",
			plant: each([]string{".conclave/records", ".conclave/engine", ".conclave/locks", ".conclave/tmp", ".conclave/tables/weir",
				".conclave", ".campaign", "campaigns/weir", "campaigns", "."}, func(p Place, name string) error { return closed(p, name) })},
		{Name: "names that are nearly ours", Touches: []string{".conclave/", ".campaign/", config}, Careless: "cat .Conclave/records/x.record",
			plant: steps(link(".Conclave/records/x.record", "$OUTSIDE/secret.txt"), link(".CONCLAVE", "$OUTSIDE"),
				link(".Campaign", "$OUTSIDE"), write("Conclave.yaml", "programs: {claude: tools/claude}\n"),
				write("conclave.yml", "programs: {claude: tools/claude}\n"), link(".conclave /records", "$OUTSIDE"),
				link(".c\u200donclave", "$OUTSIDE"))},
		{Name: "entries that climb", Touches: []string{"campaigns/", "profile-packs/"}, Careless: "cat campaigns/weir/secret.txt",
			plant: steps(link("campaigns/weir", "../../outside"), link("campaigns/up", "../.."), link("profile-packs/up", "../../outside"),
				link("profile-packs/harbour", "../../outside"))},
		{Name: "files where directories should be", Touches: []string{".campaign/", "campaigns/", "profile-packs/", ".conclave/"},
			Careless: "test -f .campaign && echo ALIVE",
			plant: each([]string{".campaign", "campaigns", "profile-packs", ".conclave", "sessions", "work"},
				func(p Place, name string) error { return p.write(name, "x\n", 0o644) })},
		{Name: "locks that are FIFOs and links", Touches: []string{".conclave/locks/", record, "archive.db"},
			Careless: "test -p .conclave/locks/quest.lock && echo ALIVE",
			plant: steps(each([]string{".conclave/locks/quest.lock", ".conclave/locks/table-weir.lock", "archive.db.lock",
				".conclave/profiles/lock"}, fifo), link(record+".lock", "$OUTSIDE/lock"), link(".conclave/tmp", "$OUTSIDE"),
				link(".conclave/collect", "$OUTSIDE"))},
		{Name: "sockets beside the locks", Touches: []string{".conclave/locks/"},
			Careless: "test -S " + sockets[0] + " && cat .conclave/locks/table-weir.key",
			plant: steps(each(sockets, socket), write(".conclave/locks/table-weir.key", "$CANARY\n"),
				write(".conclave/locks/quest.key", "$CANARY\n"))},
		{Name: "somebody else's sockets beside the locks", Root: true, Touches: []string{".conclave/locks/"},
			Careless: "test $(stat -c %u " + sockets[0] + ") = $STRANGER && echo ALIVE",
			plant:    steps(each(sockets, socket), each(sockets, func(p Place, name string) error { return p.give(name, 0o666) }))},
		{Name: "links to sockets beside the locks", Touches: []string{".conclave/locks/"},
			Careless: "test -S " + sockets[0] + " && echo ALIVE",
			plant: steps(func(p Place) error {
				return syscall.Mknod(filepath.Join(p.Outside, "listens"), syscall.S_IFSOCK|0o666, 0)
			},
				link(sockets[0], "$OUTSIDE/listens"), link(sockets[1], "$OUTSIDE/listens"))},
		{Name: "a second person's home", Touches: []string{config, quest},
			Careless: "cat .config/conclave/config.yaml | grep -q tools && echo ALIVE",
			plant: steps(programsIn("tools/"), write(".config/conclave/config.yaml", "programs: {claude: tools/claude}\n"),
				write("config.yaml", "programs: {claude: tools/claude}\n"), write(".local/share/conclave/trust.json", "{}"),
				link(".claude/projects/p", "$OUTSIDE/sessions"), link(".codex/sessions", "$OUTSIDE/sessions"))},
	}
}

// sockets are where who holds a lock listens.
var sockets = []string{".conclave/locks/table-weir.sock", ".conclave/locks/quest.sock"}

// give makes a file somebody else's.
func (p Place) give(name string, mode os.FileMode) error {
	if err := os.Lchown(p.path(name), p.Stranger, p.Stranger); err != nil {
		return err
	}
	return os.Chmod(p.path(name), mode)
}

func closed(p Place, name string) error {
	if err := os.MkdirAll(p.path(name), 0o755); err != nil {
		return err
	}
	return os.Chmod(p.path(name), 0o555)
}

// hard puts another name of a file outside there.
func hard(name, of string) func(Place) error {
	return func(p Place) error {
		path, err := p.clear(name)
		if err != nil {
			return err
		}
		return os.Link(filepath.Join(p.Outside, of), path)
	}
}
