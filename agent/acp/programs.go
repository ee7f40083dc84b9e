package acp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/agent"
	"conclave/agent/home"
	"conclave/internal/nearest"
)

// The kinds of a program's own tools that a role can have, by the protocol's
// names: Spec.Tools.Builtin uses them.
const (
	KindRead    = "read"
	KindSearch  = "search"
	KindEdit    = "edit"
	KindExecute = "execute"
)

// program is one that the driver knows: how it begins to speak the protocol, and
// how it is told where its model is and which tools it has.
type program struct {
	name string
	// providers are the APIs that it can ask a model by.
	providers []string
	// native finds the program itself behind npm's script, relative to the
	// directory of its package. Empty: it is a script for Node.
	native []string
	// tools are the names that it has for the kinds.
	tools map[string][]string
	// heeds are files in the directory where it works that it takes for
	// instructions, whatever it is told.
	heeds []string
	// furnish fills its home.
	furnish func(h *house, p *program) error
}

var programs = []program{
	{
		name: "copilot", providers: []string{"anthropic", "openai", "chat"},
		native: []string{"../copilot-*/copilot"},
		tools: map[string][]string{KindRead: {"view"}, KindSearch: {"grep", "glob"},
			KindEdit:    {"create", "edit", "apply_patch"},
			KindExecute: {"bash", "read_bash", "stop_bash", "list_bash"}},
		heeds: []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md",
			".github/instructions"},
		furnish: copilot,
	},
	{
		name: "gemini", providers: []string{"gemini"},
		tools: map[string][]string{KindRead: {"read_file", "read_many_files"},
			KindSearch: {"list_directory", "glob", "grep_search", "search_file_content"},
			KindEdit:   {"replace", "write_file"}, KindExecute: {"run_shell_command"}},
		heeds:   []string{"GEMINI.md"},
		furnish: gemini,
	},
	{
		name: "opencode", providers: []string{"anthropic", "openai", "chat", "gemini"},
		native: []string{"bin/opencode.exe", "../opencode-*/bin/opencode"},
		tools: map[string][]string{KindRead: {"read"}, KindSearch: {"glob", "grep", "list"},
			KindEdit: {"edit"}, KindExecute: {"bash"}},
		furnish: opencode,
	},
	{
		name: "qwen", providers: []string{"anthropic", "openai", "chat", "gemini"},
		tools: map[string][]string{KindRead: {"read_file"}, KindSearch: {"list_directory", "glob", "grep_search"},
			KindEdit: {"edit", "write_file"}, KindExecute: {"run_shell_command"}},
		furnish: qwen,
	},
}

// Programs are the names of those that the driver knows.
func Programs() []string {
	var out []string
	for _, p := range programs {
		out = append(out, p.name)
	}
	return out
}

// Known says that the driver knows a program, or which one may be meant.
func Known(name string) error {
	_, err := find(name)
	return err
}

// Providers are the kinds of providers that a known program can ask.
func Providers(name string) []string {
	if p, err := find(name); err == nil {
		return p.providers
	}
	return nil
}

func find(name string) (*program, error) {
	for i := range programs {
		if programs[i].name == name {
			return &programs[i], nil
		}
	}
	known := strings.Join(Programs(), ", ")
	if near := nearest.Of(name, Programs()); near != "" {
		return nil, fmt.Errorf("no program is called %q here; did you mean %s? (there are %s)", name, near, known)
	}
	return nil, fmt.Errorf("no program is called %q here (there are %s); describe it under `acp` in your own "+
		"configuration", name, known)
}

// speaks refuses a provider that the program cannot ask.
func (p *program) speaks(provider string) error {
	if slices.Contains(p.providers, provider) {
		return nil
	}
	return fmt.Errorf("%s cannot ask a provider of kind %q; it asks %s", p.name, provider, strings.Join(p.providers, ", "))
}

// house is what a program was given.
type house struct {
	spec     agent.Spec
	provider string
	env      []string
	args     []string
	system   bool // it has its instructions
	model    bool // it knows its model
}

// furnish makes the home of a session.
func (a *Agent) furnish(spec agent.Spec) (*house, error) {
	h := &house{spec: spec, provider: a.opts.Provider, env: home.Env(spec.Place)}
	for _, dir := range []string{agent.HomeDir, agent.TempDir, agent.WorkDir} {
		if err := home.Dir(spec.Place, dir); err != nil {
			return nil, err
		}
	}
	if a.known == nil {
		return h, h.describe(a.opts.Described)
	}
	for _, kind := range spec.Tools.Builtin {
		if kind != agent.AllTools && a.known.tools[kind] == nil {
			return nil, fmt.Errorf("no tools are of the kind %q; the kinds are %s", kind,
				strings.Join(slices.Sorted(maps.Keys(a.known.tools)), ", "))
		}
	}
	for _, name := range a.known.heeds {
		if _, err := os.Lstat(spec.Place.OnHost(agent.WorkDir, filepath.FromSlash(name))); err == nil {
			return nil, fmt.Errorf("there is a %s where it works, which it would take for instructions and cannot be told "+
				"not to; name another program for this seat", name)
		}
	}
	h.model = true
	return h, a.known.furnish(h, a.known)
}

// describe gives a program of the person's own what its description says.
func (h *house) describe(d *Description) error {
	h.args = d.Args
	model := h.spec.Model
	fill := strings.NewReplacer("{gateway}", model.BaseURL, "{token}", model.Token, "{model}", model.Name)
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		v := d.Env[name]
		if model.BaseURL == "" && (strings.Contains(v, "{gateway}") || strings.Contains(v, "{token}")) {
			return fmt.Errorf("its variable %s is to hold the address or the token of the room's gateway, and this "+
				"seat has none; name a provider", name)
		}
		h.set(name, fill.Replace(v))
	}
	return nil
}

func (h *house) set(name, value string) { h.env = append(h.env, name+"="+value) }

// all says that the program has all of its tools.
func (h *house) all() bool { return slices.Contains(h.spec.Tools.Builtin, agent.AllTools) }

// offered are the names of the tools that it has, for one that has not all.
func (h *house) offered(p *program) []string {
	var out []string
	for _, kind := range h.spec.Tools.Builtin {
		out = append(out, p.tools[kind]...)
	}
	return out
}

// put writes a file of settings.
func (h *house) put(settings any, elem ...string) error {
	b, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return err
	}
	return h.putText(string(b)+"\n", elem...)
}

func (h *house) putText(text string, elem ...string) error {
	return home.Put(h.spec.Place, []byte(text), append([]string{agent.HomeDir}, elem...)...)
}

type object map[string]any

// opencode reads one file of settings; the token stands in a variable.
func opencode(h *house, p *program) error {
	npm, version := map[string]string{"anthropic": "@ai-sdk/anthropic", "openai": "@ai-sdk/openai",
		"chat": "@ai-sdk/openai-compatible", "gemini": "@ai-sdk/google"}[h.provider], "/v1"
	if h.provider == "gemini" {
		version = "/v1beta"
	}
	const ours, token = "conclave", "CONCLAVE_MODEL_TOKEN"
	model := ours + "/" + h.spec.Model.Name
	permission := any("allow")
	if !h.all() {
		// The last rule that fits decides: the one for all others comes first.
		rules := []byte(`{"*":"deny"`)
		for _, name := range h.offered(p) {
			rules = fmt.Appendf(rules, `,%q:"allow"`, name)
		}
		for _, s := range h.spec.Tools.MCP {
			rules = fmt.Appendf(rules, `,%q:"allow"`, s.Name+"_*")
		}
		permission = json.RawMessage(append(rules, '}'))
	}
	agents := object{"title": object{"disable": true}}
	if h.spec.System != "" {
		agents["build"] = object{"prompt": h.spec.System}
		h.system = true
	}
	h.set(token, h.spec.Model.Token)
	for _, off := range []string{"AUTOUPDATE", "MODELS_FETCH", "PROJECT_CONFIG", "CLAUDE_CODE", "SHARE", "EXTERNAL_SKILLS",
		"DEFAULT_PLUGINS", "TERMINAL_TITLE"} {
		h.set("OPENCODE_DISABLE_"+off, "1")
	}
	h.args = []string{"acp"}
	return h.put(object{
		"model": model, "small_model": model, "share": "disabled", "autoupdate": false,
		"enabled_providers": []string{ours}, "permission": permission, "agent": agents,
		"provider": object{ours: object{"npm": npm, "name": ours,
			"options": object{"baseURL": h.spec.Model.BaseURL + version, "apiKey": "{env:" + token + "}"},
			"models":  object{h.spec.Model.Name: object{"name": h.spec.Model.Name}}}},
	}, ".config", "opencode", "opencode.json")
}

// gemini reads its settings and, in place of its own, our instructions.
func gemini(h *house, p *program) error {
	settings := object{
		"security": object{"auth": object{"selectedType": "gemini-api-key"}},
		"general":  object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":  object{"usageStatisticsEnabled": false}, "telemetry": object{"enabled": false},
		"context": object{"fileName": []string{noFile}},
	}
	tools := h.tools(p)
	if core, ok := tools["core"].([]string); ok {
		for _, s := range h.spec.Tools.MCP {
			for _, tool := range s.Tools {
				core = append(core, "mcp_"+s.Name+"_"+tool)
			}
		}
		tools["core"] = core
	}
	settings["tools"] = tools
	settings["experimental"] = object{"jitContext": false}
	h.set("GOOGLE_GEMINI_BASE_URL", h.spec.Model.BaseURL)
	h.set("GEMINI_API_KEY", h.spec.Model.Token)
	h.set("GEMINI_CLI_TRUST_WORKSPACE", "true")
	h.set("NO_BROWSER", "true")
	if h.spec.System != "" {
		if err := h.putText(h.spec.System, ".gemini", "system.md"); err != nil {
			return err
		}
		h.set("GEMINI_SYSTEM_MD", h.spec.Place.InGuest(agent.HomeDir, ".gemini", "system.md"))
		h.system = true
	}
	h.args = []string{"--acp", "-m", h.spec.Model.Name}
	return h.put(settings, ".gemini", "settings.json")
}

// tools are the settings of the tools of Gemini CLI, and of Qwen Code, which comes
// from it. A room has no terminals for an interactive shell, and a tool that has to
// be looked for is not found by every model.
func (h *house) tools(p *program) object {
	tools := object{"shell": object{"enableInteractiveShell": false}, "toolSearch": object{"enabled": false}}
	if !h.all() {
		tools["core"] = append([]string{noTool}, h.offered(p)...)
	}
	return tools
}

// noFile and noTool are names that nothing has: an empty list would mean all.
const (
	noFile = "conclave-none.md"
	noTool = "conclave_none"
)

// qwen reads its settings and, in place of its own, our instructions. Without
// being told otherwise it asks a model whether a tool may run.
func qwen(h *house, p *program) error {
	auth := map[string]string{"openai": "openai-responses", "chat": "openai"}[h.provider]
	if auth == "" {
		auth = h.provider
	}
	prefix, base := "OPENAI", h.spec.Model.BaseURL+"/v1"
	switch h.provider {
	case "anthropic":
		prefix, base = "ANTHROPIC", h.spec.Model.BaseURL
	case "gemini":
		prefix, base = "GEMINI", h.spec.Model.BaseURL
		h.set("GOOGLE_GEMINI_BASE_URL", base)
	}
	h.set(prefix+"_BASE_URL", base)
	h.set(prefix+"_API_KEY", h.spec.Model.Token)
	h.set(prefix+"_MODEL", h.spec.Model.Name)
	settings := object{
		"security": object{"auth": object{"selectedType": auth}},
		"general":  object{"enableAutoUpdate": false, "disableAutoUpdate": true},
		"privacy":  object{"usageStatisticsEnabled": false}, "telemetry": object{"enabled": false},
		"context": object{"fileName": []string{noFile}},
		"ui":      object{"enableFollowupSuggestions": false},
		"memory":  object{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
	}
	settings["tools"] = h.tools(p)
	if h.spec.System != "" {
		if err := h.putText(h.spec.System, ".qwen", "system.md"); err != nil {
			return err
		}
		h.set("QWEN_SYSTEM_MD", h.spec.Place.InGuest(agent.HomeDir, ".qwen", "system.md"))
		h.system = true
	}
	h.set("QWEN_CODE_LEGACY_MCP_BLOCKING", "1") // the room's tools are there before the first message
	h.args = []string{"--acp", "--auth-type", auth, "--approval-mode", "default"}
	if !h.all() {
		offered := h.offered(p)
		for _, name := range qwenTools {
			if !slices.Contains(offered, name) {
				h.args = append(h.args, "--exclude-tools", name)
			}
		}
	}
	return h.put(settings, ".qwen", "settings.json")
}

// qwenTools are those of Qwen Code. It has no list of what it may offer that leaves
// out the rest.
var qwenTools = []string{
	"agent", "ask_user_question", "cron_create", "cron_delete", "cron_list", "edit", "enter_plan_mode",
	"enter_worktree", "exit_plan_mode", "exit_worktree", "get_goal", "glob", "grep_search",
	"list_agents", "list_directory", "lsp", "monitor", "notebook_edit", "read_file", "record_artifact",
	"report_findings", "run_shell_command", "save_memory", "send_message", "skill", "task_create",
	"task_get", "task_list", "task_output", "task_stop", "task_update", "todo_write", "tool_call",
	"tool_search", "update_goal", "web_fetch", "web_search", "workflow", "write_file",
}

// copilot is told all by variables and arguments. It has no place for
// instructions that does not read the project's as well.
func copilot(h *house, p *program) error {
	kind, base := "openai", h.spec.Model.BaseURL+"/v1"
	switch h.provider {
	case "anthropic":
		kind, base = "anthropic", h.spec.Model.BaseURL
	case "openai":
		h.set("COPILOT_PROVIDER_WIRE_API", "responses")
	}
	h.set("COPILOT_OFFLINE", "true")
	h.set("COPILOT_AUTO_UPDATE", "false")
	h.set("COPILOT_PROVIDER_TYPE", kind)
	h.set("COPILOT_PROVIDER_BASE_URL", base)
	h.set("COPILOT_PROVIDER_API_KEY", h.spec.Model.Token)
	h.set("COPILOT_MODEL", h.spec.Model.Name)
	h.args = []string{"--acp", "--no-auto-update", "--no-custom-instructions", "--disable-builtin-mcps", "--no-ask-user",
		"--no-remote", "--disable-client-telemetry"}
	if !h.all() {
		names := h.offered(p)
		for _, s := range h.spec.Tools.MCP {
			for _, tool := range s.Tools {
				names = append(names, s.Name+"-"+tool)
			}
		}
		h.args = append(h.args, "--available-tools="+strings.Join(append(names, noTool), ","))
	}
	return nil
}
