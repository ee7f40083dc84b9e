package archive

// holding says that a source has entries of a session.
type holding struct {
	whose  string
	source int64
}

// hold notes that a job's source holds entries of that origin's session.
func (w *writer) hold(j *job, o *origin) error {
	if o == nil || o.whose == "" {
		return nil
	}
	h := holding{o.whose, j.id}
	if w.held[h] {
		return nil
	}
	w.held[h] = true
	if w.touched == nil {
		w.touched = map[string]bool{}
	}
	w.touched[o.whose] = true
	_, err := w.exec(`INSERT INTO holdings(whose, source, began) VALUES (?1, ?2, ?3)
		ON CONFLICT DO UPDATE SET began = ?3`, h.whose, h.source, j.began)
	return err
}

// markCopies sees to it that an entry is shown once that several sources of its
// session have. The source with the most entries shows what it has; the others
// show what only they have. It is done anew for every session of which
// something is new: a file may have outgrown its record since.
func (w *writer) markCopies() error {
	for whose := range w.touched {
		var sources int
		if err := w.tx.QueryRow("SELECT count(*) FROM holdings WHERE whose = ?", whose).Scan(&sources); err != nil {
			return err
		}
		if sources < 2 {
			continue
		}
		for _, step := range []string{unmarkSQL, markSQL} {
			if _, err := w.exec(step, whose); err != nil {
				return err
			}
		}
	}
	w.touched = nil
	return nil
}

// Entries of a session, by its sources and their origins.
const (
	unmarkSQL = `UPDATE items SET copy = NULL WHERE copy IS NOT NULL
		AND source IN (SELECT source FROM holdings WHERE whose = ?1)
		AND origin IN (SELECT id FROM origins WHERE whose = ?1)`

	markSQL = `WITH theirs AS MATERIALIZED (
		SELECT i.id, i.source, i.line, CASE i.type WHEN 'token_usage' THEN 0 ELSE i.part END AS part FROM items i
		WHERE i.source IN (SELECT source FROM holdings WHERE whose = ?1)
			AND i.origin IN (SELECT id FROM origins WHERE whose = ?1) AND i.line IS NOT NULL
	), ranks AS MATERIALIZED (
		SELECT t.source, row_number() OVER (ORDER BY count(*) DESC, s.kind IN ('record', 'bundle'), s.state <> 'live',
			s.id) AS rank
		FROM theirs t JOIN sources s ON s.id = t.source GROUP BY t.source
	), numbered AS (
		SELECT t.id, t.line, t.part, t.source, r.rank,
			row_number() OVER (PARTITION BY t.source, t.line, t.part ORDER BY t.id) AS nth
		FROM theirs t JOIN ranks r ON r.source = t.source
	), shown AS (
		SELECT id, source, first_value(source) OVER (PARTITION BY line, part, nth ORDER BY rank) AS shows FROM numbered)
	UPDATE items SET copy = shown.shows FROM shown WHERE shown.id = items.id AND shown.source <> shown.shows`
)
