package flow

import (
	"os"
	"path"
	"slices"
	"strings"

	"conclave/agent"
	"conclave/engine"
	"conclave/policy"
	"conclave/quest"
	"conclave/record"
	"conclave/workspace"
)

// earlierWork is what the quest's checkpoints were shown and this evaluation is
// not, as far as it still stands in the workspace as it was then. The Dragon
// must not see it, and its audit looks for it.
func (h *House) earlierWork(q *quest.Quest, now *quest.Work) ([]quest.NamedText, error) {
	list, err := record.List(record.Dir(h.opts.Root))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(h.opts.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	met := map[string]bool{}
	for _, f := range now.Files {
		met[f.Path] = true
	}
	var out []quest.NamedText
	for _, info := range slices.Backward(list) {
		rec, err := readRecord(info.Path)
		if err != nil || rec.Header.Attributes["flow"] != checkpointFlow || !rec.belongsTo(q) {
			continue // `conclave audit` speaks of damaged records; a gate's Guardian held no checkpoint
		}
		for _, item := range rec.Given() {
			name := strings.TrimPrefix(item.Path, path.Join(agent.WorkDir, "work")+"/")
			if item.Kind != string(policy.StageWork) || met[name] {
				continue
			}
			data, err := readAs(root, name, item.SHA256)
			if err != nil {
				continue // it was changed since, or is gone
			}
			met[name] = true
			out = append(out, quest.NamedText{Name: name, Data: data})
		}
	}
	return out, nil
}

// readAs reads a file if it is what it was.
func readAs(root *os.Root, name, sum string) ([]byte, error) {
	data, err := workspace.ReadFile(root, name, maxContext)
	if err != nil {
		return nil, err
	}
	if engine.Digest(data) != sum {
		return nil, os.ErrNotExist
	}
	return data, nil
}
