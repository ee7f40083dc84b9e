package sessiongen

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// TreeOptions say what kind of tree to write. The zero value is 10 MB.
type TreeOptions struct {
	Seed  uint64
	Bytes int64 // of all files together, about; zero means 10 MB
	// FileBytes is the size of a session in the middle; zero means 2 MB. Some
	// are ten times as large, many are small.
	FileBytes int64
	Words     int // see Options
}

// Tree is what was written.
type Tree struct {
	Dir   string   // the directory to read
	Files []string // in the order of writing
	Written
}

// WriteTree writes session files below dir as Claude Code lays them out:
// projects/<slug>/<session>.jsonl, and those of subagents beside them.
func WriteTree(dir string, o TreeOptions) (Tree, error) {
	if o.Bytes <= 0 {
		o.Bytes = 10 << 20
	}
	if o.FileBytes <= 0 {
		o.FileBytes = 2 << 20
	}
	t := Tree{Dir: filepath.Join(dir, "projects")}
	r := rand.New(rand.NewPCG(o.Seed, 0x7ee))
	start := time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)
	for n := uint64(1); t.Bytes < o.Bytes; n++ {
		cwd := fmt.Sprintf("/home/ada/work/project-%c", 'a'+rune(r.IntN(8)))
		size := min(int64(float64(o.FileBytes)*sizeFactor(r)), o.Bytes-t.Bytes)
		start = start.Add(time.Duration(r.IntN(200)) * time.Minute)
		g := Options{Seed: o.Seed<<20 | n<<1, Bytes: max(size, 20_000), Dir: cwd, Start: start, Words: o.Words}
		g.Session = fmt.Sprintf("%08x-0000-4000-8000-%012x", o.Seed, n)
		base := filepath.Join(t.Dir, strings.ReplaceAll(cwd, "/", "-"), g.Session)
		if err := t.write(base+".jsonl", g); err != nil {
			return t, err
		}
		if r.IntN(4) == 0 {
			g.Agent, g.Seed, g.Bytes = fmt.Sprintf("a%07x", n), g.Seed|1, max(size/4, 20_000)
			file := filepath.Join(base, "subagents", "agent-"+g.Agent)
			if err := t.write(file+".jsonl", g); err != nil {
				return t, err
			}
			meta := fmt.Sprintf(`{"agentType":"Explore","description":"look around","toolUseId":"toolu_gen%x-00000001","spawnDepth":1}`, g.Seed)
			if err := os.WriteFile(file+".meta.json", []byte(meta), 0o600); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

// sizeFactor is mostly below one and sometimes ten.
func sizeFactor(r *rand.Rand) float64 {
	f := r.Float64()
	return 0.05 + f*f*f*f*10
}

func (t *Tree) write(path string, o Options) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w, err := Write(f, o)
	if e := f.Close(); err == nil {
		err = e
	}
	t.Files = append(t.Files, path)
	t.Written.add(w)
	return err
}

func (w *Written) add(v Written) {
	w.Lines, w.Bytes = w.Lines+v.Lines, w.Bytes+v.Bytes
	w.Prompts, w.Messages, w.ToolCalls = w.Prompts+v.Prompts, w.Messages+v.Messages, w.ToolCalls+v.ToolCalls
	w.BadLines += v.BadLines
	w.Input, w.Output = w.Input+v.Input, w.Output+v.Output
	w.CacheRead, w.CacheWrite = w.CacheRead+v.CacheRead, w.CacheWrite+v.CacheWrite
}
