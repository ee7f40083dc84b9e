package hostile

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/sample"
)

// unit is a workspace in which a user runs commands.
type unit struct{ workspace, uid int }

// chosen are the commands to try by workspace and user: all of them, or so many
// as make test has time for, spread evenly.
func (m *matrix) chosen(commands []string, users []int) map[unit][]string {
	if only := os.Getenv("CONCLAVE_MATRIX"); only != "" {
		return m.only(only, commands, users)
	}
	if sample.All() {
		return m.only("/", commands, users)
	}
	return m.sample(sample.Rand(m.t), sample.Count(12, 25, 0), commands, users)
}

// sample goes down the diagonals of a shuffled matrix, so that every command and
// every workspace comes up equally often. A workspace has one user of the two.
func (m *matrix) sample(r *rand.Rand, pairs int, commands []string, users []int) map[unit][]string {
	units := map[unit][]string{}
	cs, ws, turn := r.Perm(len(commands)), r.Perm(len(m.all)), r.IntN(2)
	for i, taken := 0, 0; taken < pairs; i++ {
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
