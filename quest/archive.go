package quest

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode"
)

// ArchiveDir is where finished and abandoned quests are kept.
const ArchiveDir = ".campaign/archive"

// ArchiveNames lists the paths an old quest may be archived under, best first:
// its date and title, then _02 to _99.
func ArchiveNames(q *Quest) []string {
	day := q.Created
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		day = "undated"
	}
	stem := ArchiveDir + "/" + day + "-" + slug(q.Title)
	names := []string{stem + ".md"}
	for n := 2; n <= 99; n++ {
		names = append(names, fmt.Sprintf("%s_%02d.md", stem, n))
	}
	return names
}

func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() > 60 {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "quest"
}

// Archive copies the quest's very bytes, damaged or not, into the archive and
// returns where. It replaces nothing, and a repeated call finds its own copy.
// The quest itself stays until StartNew replaces it.
func (s *Store) Archive(q *Quest) (string, error) {
	for _, name := range ArchiveNames(q) {
		err := s.Create(name, q.Bytes())
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("archive %s: a hundred quests of this name are archived already; rename some in %s", QuestFile, ArchiveDir)
}

// archived reads the quests that were put away. One that cannot be read is an
// error: what is in it could not be looked for.
func (s *Store) archived() ([]NamedText, error) {
	names, err := s.list(ArchiveDir)
	if err != nil {
		return nil, err
	}
	var out []NamedText
	for _, name := range names {
		data, err := s.Read(ArchiveDir + "/" + name)
		if err != nil {
			return nil, err
		}
		out = append(out, NamedText{Name: name, Data: data})
	}
	return out, nil
}

// StartNew puts a new quest in the place of the old one, which is archived
// first. Without an old one it is created. It returns where the old one went.
func (s *Store) StartNew(data []byte) (archived string, err error) {
	if err := Parse(data).Err(); err != nil {
		return "", fmt.Errorf("start quest: %w", err)
	}
	old, err := s.Read(QuestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", s.Create(QuestFile, data)
	}
	if err != nil {
		return "", err
	}
	if Digest(old) == Digest(data) {
		return "", nil
	}
	if archived, err = s.Archive(Parse(old)); err != nil {
		return "", err
	}
	return archived, s.Replace(QuestFile, Digest(old), data)
}

// File writes a conversation under the first free of its names and returns
// that name. A repeated call with the same conversation finds its own file.
func (s *Store) File(c Conversation) (string, error) {
	data, err := c.Render()
	if err != nil {
		return "", err
	}
	for name := range c.Names() {
		err := s.Create(ConversationsDir+"/"+name, data)
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("write conversation: a hundred conversations with %s began in the minute %s", c.Agent, c.Start.Format("2006-01-02 15:04"))
}
