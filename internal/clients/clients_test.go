package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The script and this package must speak of the same versions.
func TestPinsAgree(t *testing.T) {
	script, err := os.ReadFile("../../script/clients.sh")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z]+-[0-9.]+) (\S+)@([0-9.]+) `).FindAllStringSubmatch(string(script), -1) {
		if !strings.HasSuffix(m[1], "-"+m[3]) {
			t.Errorf("%s installs %s@%s", m[1], m[2], m[3])
		}
		got = append(got, m[1])
	}
	want := []string{"claude-" + ClaudeNew, "claude-" + ClaudeOld, "codex-" + CodexOnly, "ccusage-" + ccusage,
		"gemini-" + gemini, "qwen-" + qwen, "copilot-" + copilot, "opencode-" + opencode, "node-" + node,
		"hyparquet-" + hyparquet, "inspector-" + inspector, "axe-" + axe, "chromium-" + chromium}
	if !slices.Equal(got, want) {
		t.Errorf("the script pins %v, this package %v", got, want)
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("CONCLAVE_CLIENTS", t.TempDir())
	for _, f := range []func() (string, error){Codex, Counter, Gemini, Qwen, Copilot, OpenCode, Node, ParquetReader, Inspector, Axe, Chromium,
		func() (string, error) { return Claude(ClaudeNew) }} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), "make clients") {
			t.Errorf("a missing program gives %v", err)
		}
	}
}

// A lent program is the same file, in a directory that everybody can enter.
func TestLend(t *testing.T) {
	native := filepath.Join(t.TempDir(), "claude")
	for _, name := range []string{native, native + ".data"} {
		if err := os.WriteFile(name, []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	lent, remove, err := Lend(native)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", ".data"} {
		if data, err := os.ReadFile(lent + end); err != nil || string(data) != native+end {
			t.Errorf("%s%s: %q, %v", lent, end, data, err)
		}
	}
	if info, err := os.Stat(filepath.Dir(lent)); err != nil || os.Geteuid() == 0 && info.Mode().Perm() != 0o755 {
		t.Errorf("its directory: %v, %v", info, err)
	}
	remove()
	if _, err := os.Stat(native); err != nil {
		t.Errorf("the program itself is gone: %v", err)
	}
}
