// Package config reads who plays whom: the project's conclave.yaml and the
// user's own file, decoded strictly, the user's winning.
//
// It names programs, models and where a key is found; it never holds a key. A
// field that it does not know is an error with its line, because a misspelt
// restriction is none. What is a decision about the person's machine – which
// program is started, which directories hold tools, which rooms may be weaker,
// which server remembers what is under way, which server beyond it is asked
// without a key – is said in the person's own file alone: a project's file that says it is
// refused, with the lines to move. It stores nothing, and it does not decide
// whether a project's file may be used: that is the question of package trust.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"conclave/frontmatter"
	"conclave/workspace"
)

// FileName is the project's file, at the root of the workspace.
const FileName = "conclave.yaml"

// Config is who plays whom.
type Config struct {
	// Agents says by role who answers; the role "default" is everybody else.
	Agents map[string]Agent `yaml:"agents"`
	// Providers say where models are found.
	Providers map[string]Provider `yaml:"providers"`
	Budget    Budget              `yaml:"budget"`
	// Lower names roles whose rooms may be weaker than they should be.
	Lower map[string]string `yaml:"lower"`
	// Tools are directories with programs that checks may use. Only the
	// user's own file may name them.
	Tools []string `yaml:"tools"`
	// Workspaces are directories of somebody else's that are workspaces of this
	// person. Only the user's own file may name them.
	Workspaces []string `yaml:"workspaces"`
	// Programs are the paths of agents' programs by name (claude, codex). Only
	// the user's own file may name them.
	Programs map[string]string `yaml:"programs"`
	// Database is the postgres:// URL of the server that remembers what is
	// under way; empty means SQLite in the workspace. Only the user's own file
	// may name it, and it holds no password.
	Database string `yaml:"database"`
	// Prices say by model what it costs this person. Only the user's own file
	// may name them: costs and budgets in dollars are reckoned by them.
	Prices map[string]Price `yaml:"prices"`

	// ACP describes programs that speak the Agent Client Protocol and that Conclave
	// does not know. Only the user's own file may describe them.
	ACP map[string]ACPProgram `yaml:"acp"`

	// Gate is what the person wants of the judge that can be called. Only the
	// user's own file may say it: who is judged does not choose by what.
	Gate Gate `yaml:"gate"`
	// MCP is what the person lets agents do that call from outside. Only the
	// user's own file may say it.
	MCP MCP `yaml:"mcp"`

	Streaming `yaml:",inline"`
}

// Gate is how this person wants work to be judged.
type Gate struct {
	// BeforeDone is a file with criteria, of the project or by its absolute path:
	// an agent with Conclave's plugin is told "not yet" while they are not met.
	BeforeDone string `yaml:"before_done"`
	// Base is the revision at which criteria count as committed.
	Base string `yaml:"base"`
	// Sign is the key that signs receipts.
	Sign string `yaml:"sign"`
}

// MCP is what agents may do that call from outside.
type MCP struct {
	// CallerCriteria lets them bring the criteria by which work is judged.
	CallerCriteria bool `yaml:"caller_criteria"`
}

// ACPProgram is how a program begins to speak the Agent Client Protocol.
type ACPProgram struct {
	Args []string `yaml:"args"`
	// Env are its variables. {gateway}, {token} and {model} in a value are the
	// address of the room's gateway, the room's token and the model.
	Env map[string]string `yaml:"env"`
}

// Agent says who answers for a role.
type Agent struct {
	Agent    string `yaml:"agent"` // one of agentKinds
	Model    string `yaml:"model"`
	Provider string `yaml:"provider"`
	Script   string `yaml:"script"`  // of a scripted one
	Program  string `yaml:"program"` // of one that speaks the Agent Client Protocol
	// Login plays the seat with the person's own login at the program's vendor,
	// in place of a key. Only the user's own file may say so.
	Login bool `yaml:"login"`
	// What one sitting may take – a conversation of a quest, a seat in one
	// cycle of a table: calls of the model for one answer, and what is spent.
	Turns  int     `yaml:"turns"`
	USD    float64 `yaml:"usd"`
	Tokens int64   `yaml:"tokens"`

	Streaming `yaml:",inline"`
}

// Budget is what may be spent on one quest, and on one campaign; per day, on
// everything in one workspace on one day; per command, on one command.
type Budget struct {
	USD    float64 `yaml:"usd"`
	Tokens int64   `yaml:"tokens"`
	Per    string  `yaml:"per"`
}

// What a budget can be for.
const (
	PerQuest   = "quest" // or campaign: what is not said
	PerDay     = "day"
	PerCommand = "command"
)

func (b Budget) check(data []byte) error {
	line := frontmatter.KeyLine(data, "budget", "per")
	switch {
	case line == 0:
		return nil
	case !slices.Contains([]string{PerQuest, PerDay, PerCommand}, b.Per):
		return fmt.Errorf("line %d: budget: per: %q is none of quest, day, command", line, b.Per)
	case b.USD <= 0 && b.Tokens <= 0:
		return fmt.Errorf("line %d: budget: per %s what? Set usd, tokens, or both", line, b.Per)
	}
	return nil
}

// kinds of agents that can be named.
var agentKinds = []string{"acp", "claude", "codex", "human", "model", "offline", "scripted"}

// defaults is what holds when no file says otherwise: the embedded party.
func defaults() Config {
	return Config{
		Agents:    map[string]Agent{"default": {Agent: "offline"}},
		Providers: builtInProviders(),
	}
}

// Read reads the user's own file; a file that is not there is empty.
func Read(path string) (Config, error) {
	data, err := workspace.ReadNamed(path, workspace.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, err
	}
	c, err := Parse(data)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Programs)) {
		if p := c.Programs[name]; !filepath.IsAbs(p) {
			return Config{}, fmt.Errorf("%s:%d: programs: %s: %q is not an absolute path", path,
				frontmatter.KeyLine(data, "programs"), name, p)
		}
	}
	for _, w := range c.Workspaces {
		if !filepath.IsAbs(w) {
			return Config{}, fmt.Errorf("%s:%d: workspaces: %q is not an absolute path", path, frontmatter.KeyLine(data, "workspaces"), w)
		}
	}
	if err := checkDatabase(c.Database); err != nil {
		return Config{}, fmt.Errorf("%s:%d: database: %w", path, frontmatter.KeyLine(data, "database"), err)
	}
	if err := checkPrices(c.Prices); err != nil {
		return Config{}, fmt.Errorf("%s:%d: %w", path, frontmatter.KeyLine(data, "prices"), err)
	}
	return c, nil
}

func checkDatabase(database string) error {
	if database == "" {
		return nil
	}
	u, err := url.Parse(database)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("it is no URL of the form postgres://user@host:5432/name")
	}
	if _, holds := u.User.Password(); holds || u.Query().Has("password") {
		return errors.New("it holds a password: put that into ~/.pgpass or PGPASSWORD, and take it out here")
	}
	return nil
}

// Parse decodes and checks a file's text.
func Parse(data []byte) (Config, error) {
	var c Config
	if err := frontmatter.Decode(data, &c); err != nil {
		return Config{}, err
	}
	for _, role := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[role]
		if err := checkSeat(role); err != nil {
			return Config{}, fmt.Errorf("line %d: agents: %w", frontmatter.KeyLine(data, "agents", role), err)
		}
		if a.Agent != "" && !slices.Contains(agentKinds, a.Agent) {
			return Config{}, fmt.Errorf("agents: %s: no agent is called %q (there are %s)", role, a.Agent, strings.Join(agentKinds, ", "))
		}
		if err := a.checkLogin(); err != nil {
			return Config{}, fmt.Errorf("line %d: agents: %s: %w", frontmatter.KeyLine(data, "agents", role), role, err)
		}
		if a.Agent == "scripted" && a.Script == "" {
			return Config{}, fmt.Errorf("agents: %s: a scripted agent needs a script", role)
		}
		if a.Agent == "acp" && a.Program == "" {
			return Config{}, fmt.Errorf("line %d: agents: %s: say which program (program: opencode, …)",
				frontmatter.KeyLine(data, "agents", role), role)
		}
		if a.Agent != "acp" && a.Program != "" {
			return Config{}, fmt.Errorf("line %d: agents: %s: a program is named for `agent: acp` alone",
				frontmatter.KeyLine(data, "agents", role, "program"), role)
		}
	}
	if err := cmp.Or(c.checkLimits(data), c.Budget.check(data), c.checkStreaming(data), c.checkProviders(data)); err != nil {
		return Config{}, err
	}
	for _, role := range slices.Sorted(maps.Keys(c.Lower)) {
		if l := c.Lower[role]; l != "fenced" && l != "advisory" {
			return Config{}, fmt.Errorf("lower: %s: level %q is neither fenced nor advisory", role, l)
		}
	}
	return c, nil
}

// loginKinds are the agents that can be played with a login.
var loginKinds = []string{"claude", "codex"}

// checkLogin refuses a login where there can be none, and what it cannot keep.
func (a Agent) checkLogin() error {
	switch {
	case !a.Login:
		return nil
	case !slices.Contains(loginKinds, a.Agent):
		return fmt.Errorf("login: only %s can be played with a login; say `agent: claude` beside it, or leave it out",
			strings.Join(loginKinds, " and "))
	case a.Provider != "":
		return errors.New("login: a login is its vendor's own, and has no provider; leave one of the two out")
	case a.USD != 0:
		return errors.New("usd: what a login costs nobody tells; bind it by tokens, or by turns")
	}
	return nil
}

// checkLimits refuses a limit that means nothing. One that is zero would be
// taken for none, and who writes it wants the opposite.
func (c Config) checkLimits(data []byte) error {
	check := func(value float64, keys ...string) error {
		line := frontmatter.KeyLine(data, keys...)
		if line == 0 || value > 0 && value <= math.MaxFloat64 { // NaN is not even equal to itself
			return nil
		}
		of, key := strings.Join(keys[:len(keys)-1], ": "), keys[len(keys)-1]
		return fmt.Errorf("line %d: %s: a limit is a number above zero; leave it out for none (%s is %v)", line, of, key, value)
	}
	err := cmp.Or(check(c.Budget.USD, "budget", "usd"), check(float64(c.Budget.Tokens), "budget", "tokens"))
	for _, role := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[role]
		err = cmp.Or(err, check(a.USD, "agents", role, "usd"), check(float64(a.Tokens), "agents", role, "tokens"),
			check(float64(a.Turns), "agents", role, "turns"))
	}
	return err
}

// over lays o over c: what o says wins.
func (c Config) over(o Config) Config {
	c.Agents = mergeMaps(c.Agents, o.Agents)
	c.Providers = mergeMaps(c.Providers, o.Providers)
	if o.Budget != (Budget{}) {
		c.Budget = o.Budget
	}
	c.Streaming = c.Streaming.overStream(o.Streaming)
	return c
}

func mergeMaps[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, b)
	return out
}

// Merge lays the project's file over the defaults and the user's over both.
// What is about the person's machine is the user's alone.
func Merge(project, user Config) Config {
	c := defaults().over(project).over(user)
	c.Tools, c.Lower, c.Programs, c.Workspaces = user.Tools, user.Lower, user.Programs, user.Workspaces
	c.Database, c.Prices, c.ACP, c.Gate, c.MCP = user.Database, user.Prices, user.ACP, user.Gate, user.MCP
	return c
}

// For returns who answers for a role.
func (c Config) For(role string) Agent {
	a, ok := c.Agents[role]
	d := c.Agents["default"]
	if !ok {
		return d
	}
	if a.Agent == "" {
		a.Agent = d.Agent
	}
	return a
}

// ProviderName is the provider that an agent asks: the one it names, or the usual
// one of its kind; "" for none.
func (a Agent) ProviderName() string {
	if a.Provider != "" {
		return a.Provider
	}
	return map[string]string{"claude": "anthropic", "codex": "openai"}[a.Agent]
}

// ProviderOf returns the provider of an agent: the one it names, or the usual
// one of its kind.
func (c Config) ProviderOf(a Agent) (Provider, error) {
	name := a.ProviderName()
	p, ok := c.Providers[name]
	there := strings.Join(slices.Sorted(maps.Keys(c.Providers)), ", ")
	switch {
	case name == "":
		return Provider{}, fmt.Errorf("say whose model it is: provider: NAME (there are %s; a server of your own is named "+
			"under providers)", there)
	case !ok:
		return Provider{}, fmt.Errorf("no provider is called %q (there are %s)", name, there)
	}
	return p, nil
}
