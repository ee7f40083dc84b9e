package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a profile or a pack, in words that its
// author can act on.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

func (f Fault) String() string {
	return fmt.Sprintf("%s:%d: %s: %s; %s", f.File, f.Line, f.Rule, f.Message, f.Fix)
}

// Annotation is the fault as an annotation of GitHub's build service.
func (f Fault) Annotation() string {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	return fmt.Sprintf("::error file=%s,line=%d,title=%s::%s; %s",
		property.Replace(f.File), f.Line, property.Replace(f.Rule), text.Replace(f.Message), text.Replace(f.Fix))
}

// sortFaults puts faults in the order of reading: file, line, rule.
func sortFaults(faults []Fault) {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule))
	})
}

// FaultsError is a set of faults as an error, for those who cannot go on.
type FaultsError struct {
	What   string
	Faults []Fault
}

func (e *FaultsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has %d fault", e.What, len(e.Faults))
	if len(e.Faults) != 1 {
		b.WriteByte('s')
	}
	for _, f := range e.Faults {
		b.WriteString("\n  " + f.String())
	}
	return b.String()
}
