package project

import (
	"cmp"
	"strconv"
	"strings"

	"conclave/internal/pattern"
)

// Version is a version of numbers. Pre says that letters follow them: a
// candidate, a snapshot, a build of a developer.
type Version struct {
	Parts []int
	Pre   bool
}

var versionForm = pattern.New(`^[vV=]?(\d+(?:\.\d+)*)(.*)$`)

// ParseVersion reads "1.2.3", "v1.2", "2.0-rc.1".
func ParseVersion(s string) (Version, bool) {
	m := versionForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil || len(m[1]) > 24 {
		return Version{}, false
	}
	v := Version{Pre: strings.Trim(m[2], " \t") != "" && !strings.HasPrefix(m[2], "+")}
	for part := range strings.SplitSeq(m[1], ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return Version{}, false
		}
		v.Parts = append(v.Parts, n)
	}
	return v, true
}

// Compare compares the numbers; missing ones are zero.
func (v Version) Compare(w Version) int {
	for i := range max(len(v.Parts), len(w.Parts)) {
		if c := cmp.Compare(v.part(i), w.part(i)); c != 0 {
			return c
		}
	}
	return 0
}

func (v Version) part(i int) int {
	if i < len(v.Parts) {
		return v.Parts[i]
	}
	return 0
}

// Within says whether the numbers of v begin with those of w: 1.20.3 is within
// 1.20 and within 1.
func (v Version) Within(w Version) bool {
	for i, n := range w.Parts {
		if v.part(i) != n {
			return false
		}
	}
	return true
}

var (
	bound    = pattern.New(`^\s*(>=|>|\^|~=|~>|~|==|=)?\s*v?(\d+(?:\.\d+)*)(?:\.[x*])?\s*$`)
	operator = pattern.New(`(>=|<=|==|!=|~=|~>|\^|~|>|<|=)\s+`)
)

// AtLeast is the lowest version that a range allows: ">=3.8,<4", "^18 || >=20",
// "1.22". It is not known of a range that has no lower end.
func AtLeast(rng string) (Version, bool) {
	var lowest Version
	found := false
	rng = operator.ReplaceAllString(rng, "$1")
	for alternative := range strings.SplitSeq(rng, "||") {
		var low Version
		ok := false
		for _, term := range strings.FieldsFunc(alternative, func(r rune) bool { return r == ',' || r == ' ' }) {
			m := bound.FindStringSubmatch(term)
			if m == nil {
				continue
			}
			v, good := ParseVersion(m[2])
			if good && (!ok || v.Compare(low) > 0) {
				low, ok = v, true
			}
		}
		if !ok {
			return Version{}, false
		}
		if !found || low.Compare(lowest) < 0 {
			lowest, found = low, true
		}
	}
	return lowest, found
}
