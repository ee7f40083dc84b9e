package usage

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/clients"
)

// TestUsageAgreesWithAPeer: ccusage counts the same tokens of the same files,
// by day and by model; of generated sessions, and of captures.
func TestUsageAgreesWithAPeer(t *testing.T) {
	check := func(config string, same func(peerTokens) peerTokens) {
		t.Helper()
		for by, want := range peerUsage(t, config) {
			got := map[string]peerTokens{}
			for _, g := range count(t, Options{By: by}, config).Groups {
				got[g.Name] = peerTokens{g.Input, g.Output, g.CacheRead, g.CacheWrite}
			}
			if got, want := tokenLines(got, same), tokenLines(want, same); got != want {
				t.Errorf("%s by %s:\n%sccusage has\n%s", config, by, got, want)
			}
		}
	}
	check(filepath.Dir(smallTree(t, 21, 3_000_000).Dir), func(p peerTokens) peerTokens { return p })
	configs, err := filepath.Glob(fixtures + "/claude*/*/home/.claude")
	if err != nil || len(configs) < 10 {
		t.Fatalf("%d captures, %v", len(configs), err)
	}
	for _, config := range configs {
		if strings.Contains(config, "13-interrupt") {
			continue // it has an answer that was cut off: Claude Code's own sums leave that out, as ours do; ccusage's do not
		}
		if strings.Contains(config, "-compact-") {
			continue // ccusage leaves out what stands in no line: see TestUsageIsTheClients
		}
		check(config, func(p peerTokens) peerTokens {
			p.CacheWrite = 0 // the model server of the captures did not split it by age, and ccusage sums the parts
			return p
		})
	}
}

type peerTokens struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadTokens"`
	CacheWrite int64 `json:"cacheCreationTokens"`
}

func (p peerTokens) add(q peerTokens) peerTokens {
	return peerTokens{p.Input + q.Input, p.Output + q.Output, p.CacheRead + q.CacheRead, p.CacheWrite + q.CacheWrite}
}

func tokenLines(m map[string]peerTokens, same func(peerTokens) peerTokens) string {
	var lines []string
	for name, p := range m {
		lines = append(lines, fmt.Sprintf("%s %+v\n", name, same(p)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// peerUsage is what ccusage says of a configuration directory of Claude Code,
// by day and by model.
func peerUsage(t *testing.T, config string) map[string]map[string]peerTokens {
	t.Helper()
	program, err := clients.Counter()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "claude", "daily", "--json", "--offline", "--breakdown", "--timezone", "UTC")
	cmd.Env = []string{"HOME=" + t.TempDir(), "CLAUDE_CONFIG_DIR=" + config}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Daily []struct {
			Date string `json:"date"`
			peerTokens
			Models []struct {
				Name string `json:"modelName"`
				peerTokens
			} `json:"modelBreakdowns"`
		} `json:"daily"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	days, models := map[string]peerTokens{}, map[string]peerTokens{}
	for _, d := range answer.Daily {
		days[d.Date] = d.peerTokens
		for _, m := range d.Models {
			models[m.Name] = models[m.Name].add(m.peerTokens)
		}
	}
	return map[string]map[string]peerTokens{"day": days, "model": models}
}
