package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"conclave/agent"
	"conclave/agent/home"
	"conclave/internal/jsontext"
)

const (
	codexDir = ".codex"
	provider = "conclave"
	keyVar   = "CONCLAVE_MODEL_TOKEN"
)

// builtins are the program's own tools by the names that Spec.Tools uses, with
// the features that turn them on.
var builtins = map[string][]string{
	"shell":       {"shell_tool", "unified_exec"},
	"apply_patch": nil, // a trait of the model, see catalogue
	"view_image":  {"view_image"},
	"multi_agent": {"multi_agent"},
	"goals":       {"goals"},
	"web_search":  nil, // a setting, not a feature
}

// writeHome makes the private home of a session and returns the environment
// of the program. Secrets are in the environment only, but for a login, which
// the program reads from a file of its home.
func writeHome(o Options, spec agent.Spec) ([]string, error) {
	text, env, err := config(o, spec)
	if err != nil {
		return nil, err
	}
	for _, dir := range [][]string{{agent.HomeDir, codexDir}, {agent.TempDir}, {agent.WorkDir}} {
		if err := home.Dir(spec.Place, dir...); err != nil {
			return nil, err
		}
	}
	if err := putFile(spec.Place, "config.toml", []byte(text)); err != nil {
		return nil, err
	}
	if restricted(spec.Tools) {
		if err := putFile(spec.Place, catalogueFile, catalogue(spec)); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"AGENTS.md", "AGENTS.override.md"} {
		// The program reads them from its home whatever the settings say, and
		// an agent with a shell can write them there for its next session.
		err := os.Remove(spec.Place.OnHost(agent.HomeDir, codexDir, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("clean codex home: %w", err)
		}
	}
	if spec.Login != nil {
		if err := putFile(spec.Place, authFile, spec.Login.Credential); err != nil {
			return nil, err
		}
		env = append(env, spec.Login.ProxyEnv()...)
	}
	env = append(append(home.Env(spec.Place), "CODEX_HOME="+spec.Place.InGuest(agent.HomeDir, codexDir)), env...)
	return append(env, o.Env...), nil
}

func putFile(p agent.Place, name string, data []byte) error {
	return home.Put(p, data, agent.HomeDir, codexDir, name)
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// config is config.toml and the variables that it refers to.
func config(o Options, spec agent.Spec) (text string, env []string, err error) {
	var t toml
	t.set("model", spec.Model.Name)
	if spec.Login == nil {
		t.set("model_provider", provider)
	} else {
		t.set("cli_auth_credentials_store", "file") // and no keyring, which may be another's
	}
	t.set("approval_policy", "never")
	// The room is the sandbox, and two of them get into each other's way.
	t.set("sandbox_mode", "danger-full-access")
	t.line("check_for_update_on_startup = false")
	t.line("project_doc_max_bytes = 0") // no AGENTS.md from anywhere
	if restricted(spec.Tools) {
		if spec.Model.Name == "" {
			return "", nil, errors.New("start codex: a model must be named, because which tools codex offers depends on it and only some may be")
		}
		t.set("model_catalog_json", spec.Place.InGuest(agent.HomeDir, codexDir, catalogueFile))
	}
	base, err := baseURL(spec.Model.BaseURL)
	if err != nil {
		return "", nil, err
	}
	if err := toolPolicy(&t, spec.Tools.Builtin); err != nil {
		return "", nil, err
	}
	if spec.Login != nil {
		t.line("enable_request_compression = false") // the section is that of features
	}
	if spec.Login == nil {
		env = modelProvider(&t, o, spec.Model, base)
	}
	if err := mcpServers(&t, &env, spec.Tools.MCP); err != nil {
		return "", nil, err
	}
	return t.b.String(), env, nil
}

func modelProvider(t *toml, o Options, m agent.Model, base string) (env []string) {
	t.line("[model_providers." + provider + "]")
	t.set("name", provider)
	t.set("base_url", base)
	t.set("wire_api", "responses")
	if m.Token != "" {
		t.set("env_key", keyVar)
		env = append(env, keyVar+"="+m.Token)
	}
	if o.Retries != 0 {
		n := max(o.Retries, 0)
		t.line(fmt.Sprintf("request_max_retries = %d", n))
		t.line(fmt.Sprintf("stream_max_retries = %d", n))
	}
	return env
}

func mcpServers(t *toml, env *[]string, servers []agent.MCPServer) error {
	for i, m := range servers {
		if !plainName.MatchString(m.Name) {
			return fmt.Errorf("tool server %q: codex takes letters, digits, _ and - in a name", m.Name)
		}
		t.line("[mcp_servers." + m.Name + "]")
		t.set("url", m.URL)
		t.line(`default_tools_approval_mode = "approve"`) // to be in the list is the leave
		if m.Tools != nil {
			t.line("enabled_tools = [" + strings.Join(quoteAll(m.Tools), ", ") + "]")
		}
		if m.Token != "" {
			name := fmt.Sprintf("CONCLAVE_TOOLS_TOKEN_%d", i)
			t.set("bearer_token_env_var", name)
			*env = append(*env, name+"="+m.Token)
		}
	}
	return nil
}

// baseURL is where the program finds /responses. A bare address gets the
// version that the API has, as the other programs add it themselves.
func baseURL(s string) (string, error) {
	if s == "" {
		return "https://api.openai.com/v1", nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("model address %q: want a URL like http://127.0.0.1:8080", s)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1"
	}
	return u.String(), nil
}

// toolPolicy writes which of its tools the program has, and with them what it
// tells the model of its own accord. Without tools it tells nothing.
func toolPolicy(t *toml, names []string) error {
	all := slices.Contains(names, agent.AllTools)
	for _, n := range names {
		if _, ok := builtins[n]; !ok && n != agent.AllTools {
			return fmt.Errorf("codex has no tool %q; it has shell, apply_patch, view_image, multi_agent, goals, web_search", n)
		}
	}
	if !all && !slices.Contains(names, "web_search") {
		t.set("web_search", "disabled")
	}
	if len(names) == 0 {
		for _, what := range []string{"apps_instructions", "collaboration_mode_instructions",
			"environment_context", "permissions_instructions"} {
			t.line("include_" + what + " = false")
		}
	}
	t.line("[analytics]\nenabled = false")
	t.line("[feedback]\nenabled = false")
	t.line("[history]\npersistence = \"none\"")
	t.line("[skills]\ninclude_instructions = false")
	t.line("[skills.bundled]\nenabled = false")
	t.line("[features]")
	// These reach for the network at the start, or bring in what others left.
	for _, f := range []string{"plugins", "remote_plugin", "apps", "plugin_discovery_prefetch", "hooks"} {
		t.line(f + " = false")
	}
	for _, tool := range []string{"shell", "view_image", "multi_agent", "goals"} {
		if all || slices.Contains(names, tool) {
			continue
		}
		for _, f := range builtins[tool] {
			t.line(f + " = false")
		}
	}
	return nil
}

const catalogueFile = "models.json"

// restricted says whether the program may have only some of its tools.
func restricted(t agent.Tools) bool { return !slices.Contains(t.Builtin, agent.AllTools) }

// catalogue describes the model to the program. The settings do not suffice:
// for its newer models the program offers scripts, clocks and a team of agents
// whatever they say, because its own catalogue says so.
func catalogue(spec agent.Spec) []byte {
	type object map[string]any
	model := object{
		"slug": spec.Model.Name, "display_name": spec.Model.Name, "description": nil,
		"visibility": "list", "supported_in_api": true, "priority": 1,
		"base_instructions": "", "supported_reasoning_levels": []any{}, "supports_reasoning_summaries": true,
		"support_verbosity": false, "default_verbosity": nil,
		"shell_type": "disabled", "apply_patch_tool_type": nil, "experimental_supported_tools": []any{},
		"supports_parallel_tool_calls": true, "input_modalities": []string{"text", "image"},
		"truncation_policy": object{"mode": "tokens", "limit": 10000}, "context_window": 272000,
	}
	if slices.Contains(spec.Tools.Builtin, "shell") {
		model["shell_type"] = "unified_exec"
	}
	if slices.Contains(spec.Tools.Builtin, "apply_patch") {
		model["apply_patch_tool_type"] = "freeform"
	}
	b, _ := json.Marshal(object{"models": []any{model}}) // it holds nothing that cannot be encoded
	return b
}

// toml writes the little of TOML that a configuration needs.
type toml struct{ b strings.Builder }

func (t *toml) line(s string) {
	t.b.WriteString(s)
	t.b.WriteByte('\n')
}

func (t *toml) set(key, value string) {
	if value != "" {
		t.line(key + " = " + tomlString(value))
	}
}

// tomlString is s as a basic string: JSON's, with DEL escaped too.
func tomlString(s string) string {
	return strings.ReplaceAll(string(jsontext.Quote(s)), "\x7f", `\u007f`)
}

func quoteAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = tomlString(s)
	}
	return out
}
