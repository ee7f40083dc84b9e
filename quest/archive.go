package quest

import (
	"slices"
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
	return slices.Collect(numberedNames(ArchiveDir+"/"+day+"-"+slug(q.Title), 99))
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
