package quest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"conclave/policy"
	"conclave/workspace"
)

// ErrNoQuest is the answer when there is no quest.md.
var ErrNoQuest = errors.New("no quest here; start one first (`conclave quest start`)")

// errChanged is a file that is not what the change was planned on.
var errChanged = errors.New("someone changed the file meanwhile; plan the change again")

// Store reads the files of one workspace's .campaign/. It follows no link out
// of the workspace, and inside .campaign no link at all. It keeps no state and
// no lock, and writes nothing: flows do, through the engine.
type Store struct{ root *os.Root }

// OpenStore opens a workspace's directory.
func OpenStore(workspace string) (*Store, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &Store{root: root}, nil
}

// Close releases the workspace.
func (s *Store) Close() error { return s.root.Close() }

// Read returns a file below .campaign. A missing file is fs.ErrNotExist.
func (s *Store) Read(name string) ([]byte, error) {
	if err := below(name); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	most := int64(workspace.MaxFile)
	if name == QuestFile {
		most = workspace.MaxQuest
	}
	data, err := workspace.ReadFile(s.root, name, most)
	if err != nil {
		return nil, fmt.Errorf("read %w", err)
	}
	return data, nil
}

// readOptional is Read for a file that need not be there.
func (s *Store) readOptional(name string) ([]byte, error) {
	data, err := s.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Quest reads quest.md. Without one the error is ErrNoQuest; with two, or a
// damaged one, Faults say so.
func (s *Store) Quest() (*Quest, error) {
	data, err := s.Read(QuestFile)
	others := s.otherQuests()
	if errors.Is(err, fs.ErrNotExist) {
		if len(others) > 0 {
			return nil, fmt.Errorf("%w; but there is %s: rename it to quest.md if it is the one", ErrNoQuest, strings.Join(others, ", "))
		}
		return nil, ErrNoQuest
	}
	if err != nil {
		return nil, err
	}
	q := Parse(data)
	for _, other := range others {
		q.fault(Fault{Message: fmt.Sprintf("there are two quests, quest.md and %s; move one of them away", other), Blocks: true})
	}
	return q, nil
}

// otherQuests finds files that another tool or a copy left beside quest.md.
func (s *Store) otherQuests() []string {
	var out []string
	entries, _ := workspace.ReadDir(s.root, ".campaign")
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if e.Name() != "quest.md" && strings.HasPrefix(name, "quest") && strings.HasSuffix(name, ".md") && !e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// Transcripts reads every conversation file, in the order of their names.
func (s *Store) Transcripts() ([]Transcript, error) {
	names, err := s.list(ConversationsDir)
	if err != nil {
		return nil, err
	}
	var out []Transcript
	for _, name := range names {
		data, err := s.Read(path.Join(ConversationsDir, name))
		if err != nil { // one odd file must not hide the others
			out = append(out, Transcript{Name: name, Kind: policy.ConversationOther, Fault: err.Error()})
			continue
		}
		out = append(out, readTranscript(name, data))
	}
	return out, nil
}

// Profiles reads the profiles that are installed, by archetype.
func (s *Store) Profiles() (map[string][]byte, error) {
	names, err := s.list(".campaign/profiles")
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, name := range names {
		data, err := s.Read(path.Join(".campaign/profiles", name))
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(name, ".md")] = data
	}
	return out, nil
}

// list names the Markdown files of a directory; a missing one is empty.
func (s *Store) list(dir string) ([]string, error) {
	entries, err := workspace.ReadDir(s.root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".md") && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

func below(name string) error {
	if !fs.ValidPath(name) || !strings.HasPrefix(name, ".campaign/") {
		return errors.New("not a file below .campaign")
	}
	return nil
}

// cause drops the operation and path that the message names already.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return le.Err
	}
	return err
}
