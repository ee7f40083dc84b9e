package search

import (
	"context"
	"database/sql/driver"
	"math"
	"time"

	"conclave/archive"
	"conclave/archive/index"
)

// Within finds which documents of a part of the archive hold all the words: those
// between two times for which has is true, in the order of their numbers, at most
// so many. The last word may be the beginning of one: somebody may still be
// typing it. What the index alone cannot tell – whether words stand together – is
// asked of the entry that row gives.
func Within(
	ctx context.Context, a *archive.Archive, words string, since, until time.Time, most int,
	has func(doc int64) bool, row func(ctx context.Context, docs []int64) ([]archive.Row, error),
) (found []int64, more bool, err error) {
	terms, err := parseTerms(words)
	if err != nil {
		return nil, false, err
	}
	unsure := false
	last := &terms[len(terms)-1]
	last.prefix = last.prefix || !last.not && len(words) > 0 && words[len(words)-1] != ' ' && words[len(words)-1] != '"'
	for _, t := range terms {
		unsure = unsure || len(t.words) > 1
	}
	match, err := matchExpression(ctx, a.Reader(), terms, Query{})
	if err != nil || match == "" {
		return nil, false, err
	}
	low, high := int64(0), int64(math.MaxInt64)
	if !since.IsZero() {
		low = index.First(since.UnixMicro())
	}
	if !until.IsZero() {
		high = index.First(until.Add(time.Second).UnixMicro())
	}
	const query = "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ? AND rowid <= ?"
	err = a.Each(ctx, query, []any{match, low, high}, func(v []driver.Value) bool {
		doc, _ := v[0].(int64)
		if !has(doc) {
			return true
		}
		if more = len(found) == most; !more {
			found = append(found, doc)
		}
		return !more
	})
	if err != nil || !unsure {
		return found, more, err
	}
	list, err := row(ctx, found)
	if err != nil {
		return nil, false, err
	}
	found = found[:0]
	for _, r := range list {
		ok, err := holds(a, r, terms)
		if err != nil {
			return nil, false, err
		}
		if ok {
			found = append(found, r.Doc)
		}
	}
	return found, more, nil
}

// Matcher says whether an entry holds words, for who has no index to ask.
func Matcher(a *archive.Archive, words string) (func(archive.Row) (bool, error), error) {
	terms, err := parseTerms(words)
	if err != nil {
		return nil, err
	}
	last := &terms[len(terms)-1]
	last.prefix = last.prefix || !last.not
	return func(r archive.Row) (bool, error) { return holds(a, r, terms) }, nil
}

func holds(a *archive.Archive, r archive.Row, terms []term) (bool, error) {
	e, err := a.Show(r.Ref)
	if err != nil {
		return false, err
	}
	text := e.Text()
	if r.Tool != "" {
		text = append([]byte(r.Tool+"\n"), text...)
	}
	_, ok := fitText(text, terms)
	return ok, nil
}
