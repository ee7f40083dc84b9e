package app

import (
	"context"
	"errors"

	"conclave/archive/search"
	"conclave/transcript"
)

// What a search finds.
type (
	Found     = search.Result
	Hit       = search.Hit
	FoundLine = search.Line
)

// ErrNoWords: a search needs words.
var ErrNoWords = search.ErrNoWords

// Search is what to look for and where.
type Search struct {
	search.Query
	At           ArchiveAt
	Types        []string // of entries
	Since, Until string   // 2d, 3h, 2026-02-18
}

// Search finds entries that hold all the words, the best first. The answer is no
// when there are none.
func (a *App) Search(ctx context.Context, s Search) (Found, error) {
	for _, n := range s.Types {
		t := transcript.Type(n)
		if !t.Valid() {
			return Found{}, usageError("--in: there is no entry type %q: want one of %v", n, transcript.Types())
		}
		s.In = append(s.In, t)
	}
	var err error
	if s.Query.Since, err = pointInTime("--since", s.Since); err != nil {
		return Found{}, err
	}
	if s.Query.Until, err = pointInTime("--until", s.Until); err != nil {
		return Found{}, err
	}
	if a.Remote != nil && s.At.File != "" {
		return Found{}, personsOwn("which archive is searched")
	}
	x, err := a.openArchive(ctx, s.At)
	if err != nil {
		return Found{}, err
	}
	defer x.Close()
	res, err := search.Find(ctx, x, s.Query)
	if errors.Is(err, ErrNoWords) {
		return res, usageError("%w", err)
	}
	if err != nil {
		return res, environmentError("%w", err)
	}
	return res, noUnless(len(res.Hits) > 0)
}
