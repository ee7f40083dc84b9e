package hostile

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sampled is how many pairs of command and workspace make test tries; make
// redteam tries all.
const sampled = 600

// unit is a workspace in which a user runs commands.
type unit struct{ workspace, uid int }

// chosen are the commands to try by workspace and user: all of them, or so many
// as make test has time for, spread evenly.
func (m *matrix) chosen(commands []string, users []int) map[unit][]string {
	if only := os.Getenv("CONCLAVE_MATRIX"); only != "" {
		return m.only(only, commands, users)
	}
	if os.Getenv("CONCLAVE_REDTEAM") == "all" {
		return m.only("/", commands, users)
	}
	seed := commitSeed()
	if s, err := strconv.ParseUint(os.Getenv("CONCLAVE_MATRIX_SEED"), 10, 64); err == nil {
		seed = s
	}
	m.t.Logf("CONCLAVE_MATRIX_SEED=%d", seed)
	return m.sample(rand.New(rand.NewPCG(seed, 0)), commands, users)
}

// commitSeed is another one for every commit, and the same for one commit: what
// a machine finds another one finds, and in the course of time all is tried.
func commitSeed() uint64 {
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return 1 // no checkout
	}
	h := fnv.New64a()
	h.Write(out)
	return h.Sum64()
}

// sample goes down the diagonals of a shuffled matrix, so that every command and
// every workspace comes up equally often. A workspace has one user of the two.
func (m *matrix) sample(r *rand.Rand, commands []string, users []int) map[unit][]string {
	units := map[unit][]string{}
	cs, ws, turn := r.Perm(len(commands)), r.Perm(len(m.all)), r.IntN(2)
	for i, taken := 0, 0; taken < sampled; i++ {
		c, w := commands[cs[i%len(cs)]], ws[(i+i/len(cs)*7)%len(ws)]
		u := unit{w, users[(w+turn)%len(users)]}
		if !slices.Contains(units[u], c) {
			units[u] = append(units[u], c)
			taken++
		}
	}
	return units
}

// only are the pairs whose workspace and command match the expressions before
// and after a slash.
func (m *matrix) only(text string, commands []string, users []int) map[unit][]string {
	before, after, _ := strings.Cut(text, "/")
	where, what := regexp.MustCompile(before), regexp.MustCompile(after)
	units := map[unit][]string{}
	for w := range m.all {
		for _, uid := range users {
			for _, c := range commands {
				if where.MatchString(m.all[w].Name) && what.MatchString(c) {
					units[unit{w, uid}] = append(units[unit{w, uid}], c)
				}
			}
		}
	}
	return units
}
