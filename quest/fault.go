package quest

import (
	"fmt"
	"strings"
)

// Fault is something wrong with a file: where, what, and the way out.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // 0: the file as a whole
	Message string `json:"message"`
	Offer   string `json:"offer,omitempty"` // a repair in plain words; empty: only a person can
	Blocks  bool   `json:"blocks"`          // nothing that changes the quest may run

	repair func(src []byte) ([]byte, error)
}

func (f Fault) String() string {
	where := f.File
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	text := where + ": " + f.Message
	if f.Offer != "" {
		text += " (repair: " + f.Offer + ")"
	}
	return text
}

// Repairable reports whether Repair can do what Offer says.
func (f Fault) Repairable() bool { return f.repair != nil }

// Repair returns the file with the offered repair done and nothing else
// changed. The caller shows it to the person and writes it at their word.
func (f Fault) Repair(src []byte) ([]byte, error) {
	if f.repair == nil {
		return nil, fmt.Errorf("repair %s: no repair is offered for this; edit the file by hand", f.File)
	}
	return f.repair(src)
}

// DamagedError is a file that cannot be used until a person has decided.
type DamagedError struct{ Faults []Fault }

func (e *DamagedError) Error() string {
	var lines []string
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}
