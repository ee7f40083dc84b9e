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
