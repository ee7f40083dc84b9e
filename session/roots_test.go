package session

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestDefaultRoots: what a variable names comes before the home directory, and
// without either nothing is followed, least of all below the directory one is in.
func TestDefaultRoots(t *testing.T) {
	home, own := filepath.FromSlash("/home/ada"), filepath.FromSlash("/srv/codex")
	others := []string{filepath.Join(home, ".gemini", "tmp"), filepath.Join(home, ".qwen", "projects"),
		filepath.Join(home, ".copilot", "session-state")}
	for _, c := range []struct {
		env  map[string]string
		want []string
	}{
		{map[string]string{"HOME": home}, append([]string{
			filepath.Join(home, ".claude", "projects"), filepath.Join(home, ".codex", "sessions"),
			filepath.Join(home, ".codex", "archived_sessions"),
		}, others...)},
		{map[string]string{"USERPROFILE": home, "CODEX_HOME": own}, append([]string{
			filepath.Join(home, ".claude", "projects"), filepath.Join(own, "sessions"), filepath.Join(own, "archived_sessions"),
		}, others...)},
		{map[string]string{"CODEX_HOME": own}, []string{
			filepath.Join(own, "sessions"), filepath.Join(own, "archived_sessions"),
		}},
		{nil, nil},
	} {
		if got := DefaultRoots(func(name string) string { return c.env[name] }); !slices.Equal(got, c.want) {
			t.Errorf("with %v: %q, want %q", c.env, got, c.want)
		}
	}
}

// TestVariables: a program that asks several variables is found by the one that it
// asks first. Their order was read in the programs: Qwen Code 0.24.4, Cline 3.0.65.
func TestVariables(t *testing.T) {
	dirs := map[string]string{"HOME": "/h"}
	for _, c := range []struct{ kind, name, want string }{
		{"qwen", "", "/h/.qwen/projects"}, {"qwen", "QWEN_HOME", "/QWEN_HOME/projects"},
		{"qwen", "QWEN_RUNTIME_DIR", "/QWEN_RUNTIME_DIR/projects"},
		{"cline", "", "/h/.cline/data/sessions"}, {"cline", "CLINE_DIR", "/CLINE_DIR/data/sessions"},
		{"cline", "CLINE_DATA_DIR", "/CLINE_DATA_DIR/sessions"},
		{"cline", "CLINE_SESSION_DATA_DIR", "/CLINE_SESSION_DATA_DIR"},
		{"gemini", "GEMINI_CLI_HOME", "/GEMINI_CLI_HOME/.gemini/tmp"},
		{"copilot", "COPILOT_HOME", "/COPILOT_HOME/session-state"},
	} {
		if c.name != "" { // and those that the program asks later stay set
			dirs[c.name] = "/" + c.name
		}
		got := directory(OfName(c.kind), func(name string) string { return dirs[name] })
		if want := filepath.FromSlash(c.want); got != want {
			t.Errorf("%s with %s: %s, not %s", c.kind, c.name, got, want)
		}
		if c.name != "" && !slices.Contains(Variables(), c.name) {
			t.Errorf("nobody is told of %s", c.name)
		}
	}
}
