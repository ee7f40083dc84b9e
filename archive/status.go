package archive

import (
	"context"
	"database/sql"
	"os"
	"time"

	"conclave/transcript"
)

// Status says what an archive holds.
type Status struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`    // of its file
	Sources int    `json:"sources"` // files that it has taken up
	Gone    int    `json:"gone"`    // of them are no longer there
	Bytes   int64  `json:"bytes"`   // of all sources
	Stored  int64  `json:"stored"`  // that is left of them, deduplicated and compressed
	Entries int64  `json:"entries"`
	First   string `json:"first,omitempty"` // time of the first entry
	Last    string `json:"last,omitempty"`
	// Damaged blocks do not match their digest; only Verify looks.
	Damaged []int64 `json:"damaged,omitempty"`
	Blocks  int     `json:"blocks"`
}

// Status counts.
func (a *Archive) Status(ctx context.Context) (Status, error) {
	s := Status{Path: a.path}
	if info, err := os.Stat(a.path); err == nil {
		s.Size = info.Size()
	}
	err := a.reader.QueryRowContext(ctx,
		"SELECT count(*), coalesce(sum(state <> 'live'), 0), coalesce(sum(pos), 0) FROM sources").
		Scan(&s.Sources, &s.Gone, &s.Bytes)
	if err == nil {
		err = a.reader.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(length(packed)), 0) FROM blocks").
			Scan(&s.Blocks, &s.Stored)
	}
	if err == nil {
		var first, last sql.NullInt64
		err = a.reader.QueryRowContext(ctx, "SELECT count(type), min(at), max(at) FROM items").
			Scan(&s.Entries, &first, &last)
		s.First, s.Last = stamp(first), stamp(last)
	}
	return s, err
}

// stamp is a time of the table as it is shown; "" when there is none.
func stamp(at sql.NullInt64) string {
	if !at.Valid {
		return ""
	}
	return time.UnixMicro(at.Int64).UTC().Format(transcript.TimeLayout)
}

// Verify is Status, and holds every block against its digest.
func (a *Archive) Verify(ctx context.Context) (Status, error) {
	s, err := a.Status(ctx)
	if err != nil {
		return s, err
	}
	rows, err := a.reader.QueryContext(ctx, "SELECT id, size, packed, sum FROM blocks ORDER BY id")
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var size int
		var packed, sum []byte
		if err := rows.Scan(&id, &size, &packed, &sum); err != nil {
			return s, err
		}
		if raw, err := a.packer.unpack(packed, size); err != nil || !sumMatches(raw, sum) {
			s.Damaged = append(s.Damaged, id)
		}
	}
	return s, rows.Err()
}
