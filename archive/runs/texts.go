package runs

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/archive"
	"conclave/transcript"
)

const toolUse = transcript.ToolUse

// texts are what entries say, in one short line each, by their ids. Who drops an
// entry drops it here as well: ids are not given twice.
type texts struct {
	lines map[int64]line
}

type line struct{ text, tool string }

const (
	maxTitle = 200   // characters of a line
	maxLines = 50000 // that are kept
)

func (t *texts) line(ctx context.Context, a *archive.Archive, id int64) (line, error) {
	if l, ok := t.lines[id]; ok || id == 0 {
		return l, nil
	}
	l, _, err := read(ctx, a, id)
	t.keep(id, l)
	return l, err
}

func (t *texts) keep(id int64, l line) {
	if t.lines == nil || len(t.lines) >= maxLines {
		t.lines = map[int64]line{}
	}
	t.lines[id] = l
}

func (t *texts) tool(ctx context.Context, a *archive.Archive, id int64) (string, error) {
	l, err := t.line(ctx, a, id)
	return l.tool, err
}

// read reads one entry.
func read(ctx context.Context, a *archive.Archive, id int64) (l line, row archive.Row, err error) {
	for row, err = range a.Rows(ctx, "WHERE i.id = ?", id) {
		if err != nil {
			return l, row, err
		}
	}
	if row.ID == 0 {
		return l, row, nil // it was read again since, under another number
	}
	s, err := a.Show(row.Ref)
	if err != nil {
		return l, row, err
	}
	return line{oneLine(s.Text()), row.Tool}, row, nil
}

// fetch reads the lines of entries that are not kept, many at a time.
func (t *texts) fetch(ctx context.Context, a *archive.Archive, ids []int64) error {
	ids = slices.DeleteFunc(ids, func(id int64) bool {
		_, ok := t.lines[id]
		return ok || id == 0
	})
	for part := range slices.Chunk(ids, 500) {
		args := make([]any, len(part))
		for i, id := range part {
			args[i] = id
		}
		var rows []archive.Row
		for row, err := range a.Rows(ctx, "WHERE i.id IN (?"+strings.Repeat(",?", len(part)-1)+")", args...) {
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		for _, row := range rows {
			e, err := a.Show(row.Ref)
			if err != nil {
				return err
			}
			t.keep(row.ID, line{oneLine(e.Text()), row.Tool})
		}
	}
	return nil
}

// titles puts first and last words into runs.
func (s *Shelf) titles(ctx context.Context, list []*Run) error {
	var ids []int64
	for _, r := range list {
		if r.Title == "" && r.Last == "" && !r.elsewhere && r.Campaign == "" {
			ids = append(ids, r.prompt, r.said)
		}
	}
	if err := s.texts.fetch(ctx, s.a, ids); err != nil {
		return err
	}
	for i := range list {
		r := list[i]
		if r.Title != "" || r.Last != "" || r.elsewhere {
			continue
		}
		if r.Campaign != "" {
			r.Title = r.ofSeat()
			continue
		}
		title, err := s.title(ctx, r)
		if err != nil {
			return err
		}
		last, err := s.texts.line(ctx, s.a, r.said)
		if err != nil {
			return err
		}
		r.Title, r.Last = title, last.text
		if last.tool != "" {
			r.Last = strings.TrimSpace(last.tool + " " + last.text)
		}
	}
	return nil
}

// ofSeat names a run of a table by table and seat: what a seat heard and said is that
// seat's, and stands in no list.
func (r *Run) ofSeat() string {
	if r.character == "" || r.character == r.Role {
		return r.Campaign
	}
	return r.Campaign + " · " + r.character
}

// title is the first prompt that a person wrote, or what the program asked it for.
func (s *Shelf) title(ctx context.Context, r *Run) (string, error) {
	if r.deed != "" {
		return r.deed, nil
	}
	if found, ok := s.texts.lines[-r.prompt]; ok { // it is not the first one
		return found.text, nil
	}
	first, err := s.texts.line(ctx, s.a, r.prompt)
	if err != nil || r.prompt == 0 || first.text != "" && !programs(first.text) {
		return first.text, err
	}
	const enough = 6
	var ids []int64
	for row, err := range s.a.Rows(ctx, "WHERE i.source = ? AND i.type = ? AND i.id > ? ORDER BY i.seq LIMIT ?",
		r.main, transcript.UserMessage, r.prompt, enough) {
		if err != nil {
			return "", err
		}
		ids = append(ids, row.ID)
	}
	for _, id := range ids {
		l, _, err := read(ctx, s.a, id)
		if err != nil {
			return "", err
		}
		if l.text != "" && !programs(l.text) {
			s.texts.keep(-r.prompt, l)
			return l.text, nil
		}
	}
	return first.text, nil
}

// programs: a program wrote it, and not a person.
func programs(text string) bool {
	return strings.HasPrefix(text, "<") || strings.HasPrefix(text, "Caveat: ") || strings.HasPrefix(text, "# AGENTS.md")
}

// oneLine is the beginning of a text as one line.
func oneLine(text []byte) string {
	if len(text) > 8*maxTitle {
		text = text[:8*maxTitle]
	}
	return cutLine(string(bytes.Join(bytes.Fields(bytes.ToValidUTF8(text, []byte("�"))), []byte(" "))))
}

func cutLine(s string) string {
	if utf8.RuneCountInString(s) <= maxTitle {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == maxTitle {
			return s[:i] + "…"
		}
	}
	return s
}
