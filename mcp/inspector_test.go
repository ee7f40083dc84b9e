package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"conclave/internal/clients"
	"conclave/internal/sample"
)

// inspect runs the MCP inspector, which speaks with another SDK than the server,
// and returns what it was told, as JSON.
func (p *place) inspect(at []string, args ...string) map[string]any {
	p.t.Helper()
	node, err := clients.Node()
	if err != nil {
		p.t.Fatal(err)
	}
	script, err := clients.Inspector()
	if err != nil {
		p.t.Fatal(err)
	}
	whole := append([]string{script, "--cli", "--quiet", "--connect-timeout", "0"}, args...)
	cmd := exec.CommandContext(p.t.Context(), node, append(whole, at...)...)
	cmd.Dir, cmd.Env = p.root, []string{"HOME=" + p.env["HOME"], "PATH=" + p.env["PATH"]}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("inspector %v: %v\n%s%s", args, err, out.String(), stderr.String())
	}
	var told map[string]any
	if err := json.Unmarshal(out.Bytes(), &told); err != nil {
		p.t.Fatalf("inspector %v: %v\n%s", args, err, out.String())
	}
	return told
}

// TestInspector: a client that others wrote lists what the program has, reads and
// calls, over pipes and over HTTP.
func TestInspector(t *testing.T) {
	sample.Long(t)
	p := newPlace(t)
	p.trust()
	url, token := p.listening()
	for name, at := range map[string][]string{
		"pipes": append(p.start().Args, "--cwd", p.root),
		"HTTP":  {"--server-url", url, "--transport", "http", "--header", "Authorization: " + token},
	} {
		told := p.inspect(at, "--method", "tools/list")
		var names []string
		for _, tool := range told["tools"].([]any) {
			names = append(names, tool.(map[string]any)["name"].(string))
		}
		for want := range once {
			if !slices.Contains(names, want) {
				t.Errorf("%s: no tool %s among %v", name, want, names)
			}
		}
		told = p.inspect(at, "--method", "resources/list")
		if list, _ := json.Marshal(told); !strings.Contains(string(list), `"conclave://quest"`) {
			t.Errorf("%s: %s", name, list)
		}
		told = p.inspect(at, "--method", "resources/read", "--uri", "conclave://quest")
		if text, _ := json.Marshal(told); !strings.Contains(string(text), "Success Criteria") {
			t.Errorf("%s: %s", name, text)
		}
		told = p.inspect(at, "--method", "tools/call", "--tool-name", "gate", "--tool-args-json", `{"work":["work"]}`)
		got, _ := told["structuredContent"].(map[string]any)
		if got["exit"] != 0.0 || got["outcome"] != "met" || got["criteria_origin"] != "quest" {
			t.Errorf("%s: gate: %v", name, told)
		}
	}
}

// listening starts the program over HTTP, and reads where and with which token.
func (p *place) listening() (url, token string) {
	p.t.Helper()
	cmd := p.start("--http", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			p.t.Error(err)
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "url: "); ok {
			url = rest
		}
		if rest, ok := strings.CutPrefix(lines.Text(), "Authorization: "); ok {
			return url, rest
		}
	}
	p.t.Fatalf("it did not say where it listens: %v", lines.Err())
	return "", ""
}
