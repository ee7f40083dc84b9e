package table

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"conclave/internal/markdown"
	"conclave/policy"
)

// Source is one thing that fed a call, for the receipt and the audit.
type Source struct {
	Path   string `json:"path"` // in the campaign, or "engine:…" for text of the engine's own keeping
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Note   string `json:"note,omitempty"`
}

// Part is a piece of a seat's input.
type Part struct {
	Kind  Kind
	Title string
	Text  string
}

// SeatContext is everything that a seat is given.
type SeatContext struct {
	Reader   Reader
	Parts    []Part
	Sources  []Source
	Warnings []string
}

// ContextOptions of a seat's input.
type ContextOptions struct {
	Caps Caps
	// Recent is narrative that the character heard and that is not in its
	// files: its own private blocks, "while you were away".
	Recent string
	// Pending is narrative not yet in the character's journal.
	Pending string
	// Fight is how a fight stands, as far as everybody knows.
	Fight string
}

// PlayerContext builds a player's input from the allow-list: the frozen bytes
// of its own prompt, its sheet without the GM's regions, its journal's newest
// entries, party knowledge and the world primer. Nothing else is opened.
func (c *Campaign) PlayerContext(character string, prompt []byte, opt ContextOptions) (SeatContext, error) {
	caps := opt.Caps.WithDefaults()
	s := SeatContext{Reader: Reader{Role: policy.Player, Character: character}}
	steps := []error{
		s.file(c.Party, "party/", SheetFile(character), "Your character", caps.Sheet, RemoveGM, true),
		s.journal(c.Party, character, caps.JournalContext),
		s.file(c.Root, "", "party-knowledge.md", "What the party knows", caps.PartyKnowledge, ForEveryone, false),
		s.file(c.Root, "", "world-primer.md", "The world", caps.PartyKnowledge, ForEveryone, false),
	}
	if err := errors.Join(steps...); err != nil {
		return SeatContext{}, err
	}
	s.own("engine:pending", kindNarrative, "Not yet in your journal", opt.Pending) // older than
	s.own("engine:recent", kindNarrative, "Lately", opt.Recent)
	s.own("engine:fight", kindNarrative, "The fight", opt.Fight)
	if len(prompt) > 0 {
		s.add(KindPrompt, "The game master asks", "tmp/"+PromptFile(character), prompt, string(prompt), "")
	}
	return s, s.check()
}

// JournalContext builds a journal keeper's input from the snapshots of one
// cycle: the shared narrative, what was private to the character, its notes,
// and the newest entries of its journal.
func (c *Campaign) JournalContext(character string, narrative, notes []byte, private string,
	opt ContextOptions) (SeatContext, error) {
	s := SeatContext{Reader: Reader{Role: policy.JournalKeeper, Character: character}}
	if err := s.journal(c.Party, character, opt.Caps.WithDefaults().JournalContext); err != nil {
		return SeatContext{}, err
	}
	if len(narrative) > 0 {
		s.add(kindNarrative, "What happened", "tmp/"+NarrativeFile, narrative, string(narrative), "snapshot of the cycle")
	}
	s.own("engine:private", kindNarrative, "What only you saw", private)
	if strings.TrimSpace(string(notes)) != "" {
		s.add(KindNotes, "Your notes", "tmp/"+NotesFile(character), notes, string(notes), "snapshot of the cycle")
	}
	return s, s.check()
}

// Text is the whole input as one message.
func (s SeatContext) Text() string {
	var b strings.Builder
	for i, p := range s.Parts {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "# %s\n\n%s", p.Title, markdown.EndLine(p.Text))
	}
	return b.String()
}

// check holds the allow-list against what was gathered, whoever gathered it.
func (s SeatContext) check() error {
	for _, src := range s.Sources {
		if !strings.HasPrefix(src.Path, "engine:") && !s.Reader.May(src.Path) {
			return fmt.Errorf("%s may not read %s", s.Reader.Character, src.Path)
		}
	}
	return nil
}

func (s *SeatContext) file(d *Dir, prefix, name, title string, limit int64, filter func(string) string,
	required bool) error {
	data, err := d.Read(name, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist) && required:
		return fmt.Errorf("%s%s was here and is gone: put it back, and the table goes on: %w", prefix, name, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if !markdown.Readable(data) {
		return fmt.Errorf("%s%s: not valid UTF-8", prefix, name)
	}
	text := filter(markdown.Normalise(string(data)))
	note := ""
	if text != markdown.Normalise(string(data)) {
		note = "without the GM's regions"
	}
	s.add(Classify(prefix+name).Kind, title, prefix+name, data, text, note)
	return nil
}

func (s *SeatContext) add(kind Kind, title, path string, data []byte, text, note string) {
	s.Sources = append(s.Sources, Source{path, Hash(data), int64(len(data)), note})
	s.Parts = append(s.Parts, Part{kind, title, text})
}

func (s *SeatContext) own(path string, kind Kind, title, text string) {
	if strings.TrimSpace(text) != "" {
		s.add(kind, title, path, []byte(text), text, "")
	}
}

func (s *SeatContext) journal(party *Dir, character string, budget int64) error {
	name := JournalFile(character)
	f, err := party.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	text, sum, size, err := readJournal(f, budget)
	if err != nil {
		return err
	}
	text, left := newestEntries(RemoveGM(markdown.Clean(text)), budget)
	note := ""
	if left > 0 || size > 2*budget {
		note = "newest entries only"
	}
	s.Sources = append(s.Sources, Source{"party/" + name, sum, size, note})
	s.Parts = append(s.Parts, Part{KindJournal, "Your journal", text})
	return nil
}

// readJournal hashes a whole journal and returns as much of its end as can
// matter, with its first line. The file may have grown for years.
func readJournal(f *os.File, budget int64) (text, sum string, size int64, err error) {
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", "", 0, err
	}
	sum = hex.EncodeToString(h.Sum(nil))
	from := max(0, size-2*budget)
	buf := make([]byte, size-from)
	if _, err = f.ReadAt(buf, from); err != nil && err != io.EOF {
		return "", "", 0, err
	}
	text = markdown.Clean(string(buf))
	if from == 0 {
		return text, sum, size, nil
	}
	first := make([]byte, 200)
	if _, err := f.ReadAt(first, 0); err != nil {
		return "", "", 0, err
	}
	head, _, _ := strings.Cut(markdown.Clean(string(first)), "\n")
	_, entries := SplitJournal(text)
	return head + "\n\n" + strings.Join(entries, ""), sum, size, nil
}
