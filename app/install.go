package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/screen"
	"conclave/plugin"
	"conclave/session"
)

// Plugin is which client Conclave's plugin is put into, or taken out of.
type Plugin struct {
	Client  string // one of PluginClients
	Project bool   // in this project alone
	DryRun  bool   // say what would be done, and do nothing
}

// PluginChange is what was done, or would be.
type PluginChange struct {
	Client    string     `json:"client"`
	Program   string     `json:"program,omitempty"` // of the client
	Project   string     `json:"project,omitempty"` // "" for everywhere
	Directory string     `json:"directory"`         // of the plugin's marketplace
	Files     []string   `json:"files,omitempty"`   // in it
	Written   []string   `json:"written,omitempty"` // of these, because they were not there as they are now
	Commands  [][]string `json:"commands"`          // that the client was given
	DryRun    bool       `json:"dry_run,omitempty"`
	Notes     []string   `json:"notes,omitempty"`
	// After taking it out: what somebody has changed of ours, and what the client
	// has that it had not before, or has otherwise.
	Changed       []string `json:"changed,omitempty"`
	Left          []string `json:"left,omitempty"`
	LeftOtherwise []string `json:"left_otherwise,omitempty"`
}

// client is how a program is told of a plugin.
type client struct {
	name, title string
	come        func(market, scope string) [][]string
	gone        func(scope string) [][]string
	// unknown is what it says of a plugin or a market that it does not have.
	unknown  []string
	settings string // a file of its home
	scoped   bool   // it has plugins of one project
	note     string // what the person has to do then
}

var clients = []client{{
	name: "claude", title: "Claude Code", settings: "settings.json", scoped: true,
	come: func(market, scope string) [][]string {
		return [][]string{{"plugin", "marketplace", "add", market, "--scope", scope, "--json"},
			{"plugin", "install", plugin.ID, "--scope", scope, "--json"}}
	},
	gone: func(scope string) [][]string {
		return [][]string{{"plugin", "uninstall", plugin.ID, "--scope", scope, "--json"},
			{"plugin", "marketplace", "remove", plugin.Name, "--scope", scope, "--json"}}
	},
	unknown: []string{`"not_installed"`, `"not_configured"`, "not found"},
	note:    "Sessions that are open have it after /reload-plugins.",
}, {
	name: "codex", title: "Codex", settings: "config.toml",
	come: func(market, _ string) [][]string {
		return [][]string{{"plugin", "marketplace", "add", market, "--json"}, {"plugin", "add", plugin.ID, "--json"}}
	},
	gone: func(string) [][]string {
		return [][]string{{"plugin", "remove", plugin.ID, "--json"},
			{"plugin", "marketplace", "remove", plugin.Name, "--json"}}
	},
	unknown: []string{"is not configured or installed"},
	note: "Codex runs no hook that you have not looked at: type /hooks in it once, and trust those of conclave. " +
		"Until then its sessions are not recorded by them.",
}}

// PluginClients names the clients.
func PluginClients() []string {
	var names []string
	for _, c := range clients {
		names = append(names, c.name)
	}
	return names
}

// installation is one client in one place, with everything that is known of it.
type installation struct {
	client
	app     *App
	program string // of the client
	missing error  // why there is none
	home    string // the client's
	project string
	ledger  *plugin.Ledger
}

func (a *App) installation(in Plugin) (*installation, error) {
	at := slices.IndexFunc(clients, func(c client) bool { return c.name == in.Client })
	if at < 0 {
		return nil, usageError("no client is called %q: %s", in.Client, strings.Join(PluginClients(), " or "))
	}
	i := &installation{client: clients[at], app: a}
	if in.Project && !i.scoped {
		return nil, usageError("%s has no plugins of one project: leave --project out", i.title)
	}
	root, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	own, err := a.ownConfig()
	if err != nil {
		return nil, err
	}
	if in.Project {
		i.project = root
	}
	i.program, i.missing = (&workspace{root: root, config: own}).findProgram(i.name)
	kind, home := session.OfName(i.name), a.Getenv("HOME")
	i.home = cmp.Or(a.Getenv(kind.HomeVar), filepath.Join(home, kind.HomeDir))
	data := a.userDataDir()
	if data == "" || !filepath.IsAbs(i.home) {
		return nil, environmentError("HOME is not set: nobody knows where the plugin belongs")
	}
	i.ledger, err = plugin.Read(filepath.Join(data, "conclave", "plugin"))
	return i, refusedHere(err)
}

func (i *installation) isThis(c plugin.Client) bool { return c.Is(i.name, i.project) }

func (i *installation) scope() string {
	if i.project != "" {
		return "project"
	}
	return "user"
}

// look is what the client has now.
func (i *installation) look() (plugin.Snapshot, error) {
	dirs := map[string]int{i.home: 1, filepath.Join(i.home, "plugins"): 3, filepath.Join(i.home, ".tmp"): 1}
	if i.name == "claude" { // what it has beside its directory
		cache := cmp.Or(i.app.Getenv("XDG_CACHE_HOME"), filepath.Join(i.app.Getenv("HOME"), ".cache"))
		dirs[i.home+".json"], dirs[filepath.Join(cache, "claude-cli-nodejs")] = 0, 0
	}
	files := []string{filepath.Join(i.home, i.settings)}
	if i.project != "" {
		dir := filepath.Join(i.project, "."+i.name)
		dirs[dir], files = 1, append(files, filepath.Join(dir, i.settings))
	}
	return plugin.Look(dirs, files)
}

func (i *installation) change(in Plugin) *PluginChange {
	return &PluginChange{Client: i.name, Program: i.program, Project: i.project, Directory: i.ledger.Market(),
		Commands: [][]string{}, DryRun: in.DryRun}
}

// InstallPlugin writes the plugin and has the client take it. Doing so twice is
// doing it once.
func (a *App) InstallPlugin(ctx context.Context, in Plugin) (*PluginChange, error) {
	i, err := a.installation(in)
	if err != nil {
		return nil, err
	}
	if i.missing != nil {
		return nil, environmentError("%w; or name its path under programs in %s", i.missing, a.userConfigFile())
	}
	self, err := os.Executable()
	if err != nil {
		return nil, environmentError("find this program: %w", err)
	}
	files, err := plugin.Files(a.Version, self)
	if err != nil {
		return nil, environmentError("%w", err)
	}
	done := i.change(in)
	done.Commands, done.Notes = i.come(done.Directory, i.scope()), []string{i.note}
	for name := range files {
		done.Files = append(done.Files, filepath.FromSlash(name))
	}
	slices.Sort(done.Files)
	if i.project != "" {
		done.Notes = append(done.Notes, filepath.Join(i.project, "."+i.name, i.settings)+
			" names a directory of this machine: think before you commit it.")
	}
	if in.DryRun {
		return done, nil
	}
	return done, i.locked(func() error { return i.install(ctx, files, done) })
}

func (i *installation) install(ctx context.Context, files map[string][]byte, done *PluginChange) error {
	if !i.ledger.Has(i.name, i.project) {
		before, err := i.look()
		if err != nil {
			return err
		}
		i.ledger.Clients = append(i.ledger.Clients, plugin.Client{Name: i.name, Project: i.project, Before: before})
	}
	var err error
	if done.Written, err = i.ledger.Write(files); err != nil {
		return err
	}
	for _, args := range done.Commands {
		if err := i.tell(ctx, args); err != nil {
			return errors.Join(err, errors.New("what was written is taken away by: conclave uninstall "+i.name))
		}
	}
	return nil
}

// UninstallPlugin has the client let go of the plugin, takes away what was written
// if no other client has it, and says what stays.
func (a *App) UninstallPlugin(ctx context.Context, in Plugin) (*PluginChange, error) {
	i, err := a.installation(in)
	if err != nil {
		return nil, err
	}
	done := i.change(in)
	if !i.ledger.Has(i.name, i.project) {
		where := "for you"
		if i.project != "" {
			where = "in this project"
		}
		done.Notes = []string{"Conclave has put nothing into " + i.title + " " + where + ": nothing was done."}
		return done, nil
	}
	if done.Commands = i.gone(i.scope()); i.missing != nil {
		done.Commands = [][]string{}
		done.Notes = []string{i.title + " is not here any more (" + i.missing.Error() +
			"), so that nobody told it: its settings may name the plugin still."}
	}
	others := slices.DeleteFunc(slices.Clone(i.ledger.Clients), i.isThis)
	if len(others) > 0 {
		done.Notes = append(done.Notes, "The files stay: "+others[0].Name+" has the plugin, too.")
	} else {
		for name := range i.ledger.Files {
			done.Files = append(done.Files, filepath.FromSlash(name))
		}
		slices.Sort(done.Files)
	}
	if in.DryRun {
		return done, nil
	}
	return done, i.locked(func() error { return i.uninstall(ctx, others, done) })
}

func (i *installation) uninstall(ctx context.Context, others []plugin.Client, done *PluginChange) error {
	for _, args := range done.Commands {
		if err := i.tell(ctx, args, i.unknown...); err != nil {
			return err
		}
	}
	mine := slices.IndexFunc(i.ledger.Clients, i.isThis)
	before := i.ledger.Clients[mine].Before
	var err error
	if i.ledger.Clients = others; len(others) > 0 {
		err = i.ledger.Keep()
	} else {
		done.Changed, err = i.ledger.Remove()
	}
	if err != nil {
		return err
	}
	now, err := i.look()
	done.Left, done.LeftOtherwise = before.Left(now)
	return err
}

// locked does something while nobody else installs.
func (i *installation) locked(do func() error) error {
	if err := i.ledger.Locked(do); err != nil {
		return environmentError("%w", err)
	}
	return nil
}

// tell gives the client a command. What it says when it does not have a thing is
// no error to whoever takes that away.
func (i *installation) tell(ctx context.Context, args []string, unknown ...string) error {
	cmd := exec.CommandContext(ctx, i.program, args...)
	cmd.Dir = cmp.Or(i.project, i.app.Dir)
	out, err := cmd.CombinedOutput()
	said := string(out)
	if err == nil || slices.ContainsFunc(unknown, func(u string) bool { return strings.Contains(said, u) }) {
		return nil
	}
	const most = 600
	return environmentError("%s %s: %w: %s", i.name, strings.Join(args, " "), err,
		screen.Line(strings.TrimSpace(said[:min(len(said), most)])))
}
