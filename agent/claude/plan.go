package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"conclave/agent"
	"conclave/agent/home"
	"conclave/session/claude"
)

// plan is what a session is started with.
type plan struct {
	command  agent.Command
	session  string // its id
	projects string // where the session files lie, as this process reaches them
	login    string // "api key" or "login"
	known    func(session, uuid string) bool
	past     claude.History // of the session that is resumed
}

func (a *Agent) plan(program string, spec agent.Spec) (plan, error) {
	p := plan{session: newID(), login: "api key"}
	for _, dir := range []string{agent.HomeDir, agent.TempDir, agent.WorkDir} {
		if err := home.Dir(spec.Place, dir); err != nil {
			return p, err
		}
	}
	p.projects = spec.Place.OnHost(agent.HomeDir, ".claude", "projects")
	switch {
	case spec.Login != nil && spec.Model.Token != "":
		return p, errors.New("there is a key and a login: a session has one of them")
	case spec.Login != nil:
		p.login = "login"
	case spec.Model.Token == "":
		return p, errors.New("there is neither a key nor a login")
	}
	args, err := a.args(&p, spec)
	if err != nil {
		return p, err
	}
	p.command = agent.Command{Path: program, Args: args, Env: a.env(spec), Dir: spec.Place.InGuest(agent.WorkDir)}
	return p, nil
}

// args are the flags of a locked room. --bare reads nothing of the person's
// and sends the smallest prompt, but knows API keys only and only the basic
// tools; no setting sources are the next best thing. --safe-mode beside them
// turns off what they leave, and every tool server, those of --mcp-config
// included: the evaluators were told of a tool that they did not have. A room
// with tools goes without it, and env turns off what would otherwise be read.
func (a *Agent) args(p *plan, spec agent.Spec) ([]string, error) {
	args := []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json",
		"--verbose", "--strict-mcp-config"}
	if spec.Login == nil { // what is told piece by piece hides a credential from whoever looks for it
		args = append(args, "--include-partial-messages")
	}
	if p.login == "api key" && bareTools(spec.Tools.Builtin) {
		args = append(args, "--bare")
	} else {
		args = append(args, "--setting-sources", "")
		if len(spec.Tools.MCP) == 0 {
			args = append(args, "--safe-mode")
		}
	}
	if !a.cfg.SlashCommands {
		args = append(args, "--disable-slash-commands")
	}
	args = append(args, toolArgs(spec.Tools)...)
	if spec.Model.Name != "" {
		args = append(args, "--model", spec.Model.Name)
	}
	if spec.Limits.Turns > 0 {
		args = append(args, "--max-turns", strconv.Itoa(spec.Limits.Turns))
	}
	if spec.Limits.BudgetUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(spec.Limits.BudgetUSD, 'f', -1, 64))
	}
	if spec.System != "" {
		guest, err := writeFile(spec.Place, "system-prompt.md", []byte(spec.System))
		if err != nil {
			return nil, err
		}
		args = append(args, "--system-prompt-file", guest)
	}
	if len(spec.Tools.MCP) > 0 {
		guest, err := writeFile(spec.Place, "mcp.json", mcpConfig(spec.Tools.MCP))
		if err != nil {
			return nil, err
		}
		args = append(args, "--mcp-config", guest)
	}
	return a.sessionArgs(args, p, spec)
}

func (a *Agent) sessionArgs(args []string, p *plan, spec agent.Spec) ([]string, error) {
	if spec.Resume == "" {
		return append(args, "--session-id", p.session), nil
	}
	old, err := sessionFile(p.projects, spec.Resume)
	if err != nil {
		return nil, err
	}
	if old == "" {
		return nil, fmt.Errorf("resume session %s: there is no file of it below %s", spec.Resume, p.projects)
	}
	h, err := claude.ReadHistory(old)
	if err != nil {
		return nil, err
	}
	p.past = h
	if !spec.Fork {
		p.session = spec.Resume
		return append(args, "--resume", spec.Resume), nil
	}
	p.known = func(_, uuid string) bool { return h.UUIDs[uuid] }
	return append(args, "--resume", spec.Resume, "--fork-session", "--session-id", p.session), nil
}

// bareTools says whether the program has all of these tools in its bare mode.
func bareTools(builtin []string) bool {
	for _, t := range builtin {
		switch name, _, _ := strings.Cut(t, "("); name {
		case "Bash", "Edit", "Read":
		default:
			return false
		}
	}
	return true
}

// toolArgs allow what is named and nothing else. A tool may be narrowed as the
// program's rules allow: "Bash(git log *)". All tools at once means that the
// room, not the program, sets the limits.
func toolArgs(t agent.Tools) []string {
	if slices.Contains(t.Builtin, agent.AllTools) {
		return []string{"--permission-mode", "bypassPermissions"}
	}
	var names, allowed []string
	for _, b := range t.Builtin {
		name, _, _ := strings.Cut(b, "(")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		allowed = append(allowed, b)
	}
	for _, s := range t.MCP {
		if len(s.Tools) == 0 {
			allowed = append(allowed, "mcp__"+s.Name)
		}
		for _, tool := range s.Tools {
			allowed = append(allowed, "mcp__"+s.Name+"__"+tool)
		}
	}
	args := []string{"--permission-mode", "dontAsk", "--tools", strings.Join(names, ",")}
	if len(allowed) > 0 {
		args = append(args, "--allowedTools", strings.Join(allowed, ","))
	}
	return args
}

func (a *Agent) env(spec agent.Spec) []string {
	home := spec.Place.InGuest(agent.HomeDir)
	temp := spec.Place.InGuest(agent.TempDir)
	config := path.Join(home, ".claude")
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "SHELL=/bin/sh", "LANG=C.UTF-8", "TZ=UTC",
		"HOME=" + home, "CLAUDE_CONFIG_DIR=" + config, "TMPDIR=" + temp, "CLAUDE_CODE_TMPDIR=" + temp,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "DISABLE_BUG_COMMAND=1",
		"IS_SANDBOX=1", // the room is one; without it the program refuses some modes to root
		"CLAUDE_CODE_DISABLE_CLAUDE_MDS=1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
		// Every tool is on offer from the first request on. By default the
		// program may put some behind a tool that searches for them, and 2.1.197
		// goes on without a tool server that takes more than five seconds.
		"ENABLE_TOOL_SEARCH=false", "MCP_CONNECT_TIMEOUT_MS=30000",
		"CLAUDE_CODE_MAX_RETRIES=" + strconv.Itoa(max(a.cfg.Retries, 0)),
	}
	if spec.Model.BaseURL != "" {
		env = append(env, "ANTHROPIC_BASE_URL="+spec.Model.BaseURL)
	}
	if spec.Login != nil {
		env = append(append(env, tokenVar+"="+string(spec.Login.Credential)), spec.Login.ProxyEnv()...)
	} else {
		env = append(env, "ANTHROPIC_API_KEY="+spec.Model.Token)
	}
	return append(env, a.cfg.Env...)
}

// mcpConfig names the tool servers. With alwaysLoad the program connects to
// them before it asks the model for the first time, and never defers a tool.
func mcpConfig(servers []agent.MCPServer) []byte {
	type server struct {
		Type       string            `json:"type"`
		URL        string            `json:"url"`
		Headers    map[string]string `json:"headers,omitempty"`
		AlwaysLoad bool              `json:"alwaysLoad"`
	}
	all := map[string]server{}
	for _, s := range servers {
		one := server{Type: "http", URL: s.URL, AlwaysLoad: true}
		if s.Token != "" {
			one.Headers = map[string]string{"Authorization": "Bearer " + s.Token}
		}
		all[s.Name] = one
	}
	b, err := json.Marshal(map[string]any{"mcpServers": all})
	if err != nil {
		panic(err) // strings always encode
	}
	return b
}

// writeFile puts a file of ours into the session's home and returns its path
// as the program sees it.
func writeFile(place agent.Place, name string, data []byte) (string, error) {
	if err := home.Put(place, data, agent.HomeDir, ".conclave", name); err != nil {
		return "", err
	}
	return place.InGuest(agent.HomeDir, ".conclave", name), nil
}
