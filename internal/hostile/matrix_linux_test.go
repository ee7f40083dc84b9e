package hostile

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/internal/sample"
)

// TestMatrix runs every command of the program in every hostile workspace, as
// root and as an ordinary user.
func TestMatrix(t *testing.T) {
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, ordinary)
	}
	k := newStock(t, users)
	commands := append(k.leaves(t, ""), "hook collect") // which no help lists: "hook session" starts it
	eachHasALine(t, commands)
	m := &matrix{t: t, stock: k, all: All(), twins: map[string]map[string]bool{}}
	m.play(m.chosen(commands, users))
	m.report(commands)
}

// leaves asks the program for its commands.
func (k *stock) leaves(t *testing.T, at string) []string {
	t.Helper()
	out, err := exec.Command(k.program, append(strings.Fields(at), "--help")...).Output()
	must(t, err)
	_, list, found := strings.Cut(string(out), "\nAvailable Commands:\n")
	if !found {
		return []string{at}
	}
	var all []string
	_, flags, _ := strings.Cut(string(out), "\nFlags:\n")
	if own := strings.Count(section(flags), "--") - 1; own > 0 && at != "" {
		all = append(all, at) // a group that does something by itself has flags of its own
	}
	list = section(list)
	for l := range strings.Lines(list) {
		all = append(all, k.leaves(t, strings.TrimSpace(at+" "+strings.Fields(l)[0]))...)
	}
	return all
}

// section is what stands before the next empty line.
func section(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

func eachHasALine(t *testing.T, commands []string) {
	t.Helper()
	if len(commands) < 70 {
		t.Fatalf("only %d commands were found", len(commands))
	}
	for _, c := range commands {
		if _, ok := lines[c]; !ok {
			t.Errorf("conclave %s has no line here: say how it is run", c)
		}
	}
	for c := range lines {
		if !slices.Contains(commands, c) {
			t.Errorf("there is a line for conclave %s, and no such command", c)
		}
	}
}

// matrix is a run over many pairs.
type matrix struct {
	t     *testing.T
	stock *stock
	all   []Workspace

	busy    sync.RWMutex // a command runs, or one runs alone
	mu      sync.Mutex
	twins   map[string]map[string]bool // what each command opened in each twin; nil if it did not get to its work
	tried   int
	counted map[string]int // by command
}

// play runs the units, two at a time.
func (m *matrix) play(units map[unit][]string) {
	m.counted = map[string]int{}
	work := make(chan unit)
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for u := range work {
				m.unit(worker, u, units[u])
			}
		})
	}
	order := slices.SortedFunc(maps.Keys(units), func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.workspace, b.workspace), cmp.Compare(a.uid, b.uid))
	})
	for _, u := range order {
		work <- u
	}
	close(work)
	wg.Wait()
}

// unit runs commands in one workspace as one user, and where that was not yet
// done in its twin.
func (m *matrix) unit(worker int, u unit, commands []string) {
	w := m.all[u.workspace]
	if w.Root && os.Getuid() != 0 {
		m.t.Logf("%s: only root can make this; left out", w.Name)
		return
	}
	s := m.stock.at(fmt.Sprintf("w%d", worker), u.uid)
	m.inTwin(s, w, commands)
	if err := s.set(w, false); err != nil {
		m.t.Errorf("%v", err)
		return
	}
	for _, c := range commands {
		m.pair(s, w, c)
	}
}

func (m *matrix) pair(s *stage, w Workspace, command string) {
	m.busy.RLock()
	r, err := s.command(w, command)
	m.busy.RUnlock()
	if err == nil && r.stuck != "" { // it may have been the machine: once more, alone
		m.busy.Lock()
		if err = s.again(w, false); err == nil {
			r, err = s.command(w, command)
		}
		m.busy.Unlock()
	}
	if err != nil {
		m.t.Errorf("%s, %s: %v", w.Name, command, err)
		return
	}
	faults, changes := s.judge(r)
	m.note(s, w, command, r, faults)
	if err := s.mend(w, false, changes); err != nil {
		m.t.Errorf("mend %s after %s: %v", w.Name, command, err)
	}
}

// command runs a command as its line says.
func (s *stage) command(w Workspace, command string) (result, error) {
	if err := s.prepare(lines[command]); err != nil {
		return result{}, err
	}
	return s.run(filepath.Join(s.ws, w.Dir), lines[command], append(strings.Fields(command), lines[command].args...)...)
}

func (m *matrix) note(s *stage, w Workspace, command string, r result, faults []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tried++
	if m.reaches(s.uid, w, command) {
		m.counted[command]++
	}
	for _, f := range faults {
		m.t.Errorf("%s / %s (user %d, exit %d, %d ms, %d MB): %s", w.Name, command, s.uid, r.code, r.took.Milliseconds(), r.resident>>10, f)
	}
}

// opensNothing are the commands that open nothing of a workspace.
var opensNothing = []string{"completion bash", "completion fish", "completion powershell", "completion zsh", "demo", "help",
	"hook done", "hook session", "install", "pack new", "policy", "record hook", "uninstall", "version"}

// report says how many pairs were tried and how many counted. If hardly any
// does, the lines or the twins are no good any more.
func (m *matrix) report(commands []string) {
	total := 0
	var never []string
	for _, c := range commands {
		total += m.counted[c]
		if m.counted[c] == 0 && !slices.Contains(opensNothing, c) {
			never = append(never, c)
		}
	}
	m.t.Logf("%d pairs of %d commands and %d hostile workspaces were tried; %d of them count: "+
		"on the harmless twin the command got to its work and opened the place", m.tried, len(commands), len(m.all), total)
	if os.Getenv("CONCLAVE_MATRIX") == "" && total*6 < m.tried {
		m.t.Errorf("only %d of %d pairs count", total, m.tried)
	}
	if sample.All() && os.Getenv("CONCLAVE_MATRIX") == "" && len(never) > 0 {
		m.t.Errorf("in no workspace do these get to what is hostile: %s", strings.Join(never, ", "))
	}
}
