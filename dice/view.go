package dice

import (
	"bytes"

	"conclave/workspace"
)

// ViewFile reads a log as a viewer may see it, without opening it for a roll: no
// epoch is begun, and nothing is written. What holds up to a damaged line is
// returned with the error.
func ViewFile(path string, v Viewer) ([]Line, error) {
	data, err := workspace.ReadOwn(path, workspace.MaxFile)
	if err != nil {
		return nil, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	var all []Line
	st, fallen := newState(), map[uint64]Line{}
	err = replay(path, data, st, func(_ int, l Line) error {
		all = append(all, l)
		if l.Event == EventRoll || l.Event == EventVoid {
			fallen[l.N] = l
		}
		return nil
	})
	rolls := func(n uint64) (Line, bool) { return fallen[n], st.marks[n].revealed }
	for i, l := range all {
		all[i] = v.redact(l, rolls)
	}
	return all, err
}
