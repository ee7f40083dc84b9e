package archive

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/bundle"
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// maxDocument is how large a file of a bundle may be that is read whole.
const maxDocument = 16 << 20

// cutBundle reads the log of a bundle. transcript.jsonl holds the same entries
// again and is read only where there is no log.
func (a *Archive) cutBundle(j *job, c *cutter) error {
	name := logOf(j.bundle)
	feed := &logFeed{index: a.newIndexer(), project: projectOf(j.path)}
	if c.feed = feed; name == "" {
		return nil
	}
	if feed.of = bundleOf(j.bundle, name); feed.of != nil {
		j.began, feed.of.alone = feed.of.begin.At, j.alone
	}
	if a.isCache && !a.unpieced {
		if done, err := a.cutPieces(j, c, name); done {
			return err
		}
	}
	r, err := j.bundle.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	ahead := newReadAhead(r)
	defer ahead.Close()
	return c.lines(ahead, 0, false)
}

// logOf is the file of a bundle that has its log, "" when there is none.
func logOf(b *bundle.Reader) string {
	for _, name := range []string{"logs/app.jsonl", "transcript.jsonl"} {
		if b.Has(name) {
			return name
		}
	}
	return ""
}

// flat are the files of a bundle that become keys and values.
var flat = map[string]string{"manifest.json": "manifest", "config.json": "config", "metrics.json": "metrics",
	"run_context.json": "run_context", "prompt_overrides.json": "prompt_overrides", "eval.json": "eval", "error.json": "error",
	"request/input.json": "request/input", "request/output.json": "request/output"}

// putDocuments stores what a bundle has beside its log, redacted.
func (w *writer) putDocuments(j *job) error {
	defer j.bundle.Close()
	for _, name := range j.bundle.Files() {
		var err error
		switch {
		case flat[name] != "":
			err = w.putFlat(j, flat[name], name)
		case strings.HasPrefix(name, "environment/"):
			err = w.putFlat(j, "environment/"+path.Base(name), name)
		case strings.HasPrefix(name, "filesystem/"):
			err = w.putFile(j, name)
		case name == "session/after.jsonl":
			err = w.putSlices(j, name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	id := j.bundle.Manifest().BundleID
	if id == "" {
		return nil
	}
	_, err := w.exec("UPDATE sources SET run = ? WHERE id = ?", id, j.id)
	return err
}

func (w *writer) putFlat(j *job, document, name string) error {
	b, err := j.bundle.ReadFile(name, maxDocument)
	if err != nil {
		return err
	}
	if !jsontext.Valid(b) {
		_, err := w.exec("INSERT INTO documents(source, name, key, value) VALUES (?, ?, 'text', ?)",
			j.id, document, string(w.a.clean(b)))
		return err
	}
	return w.flatten(j, document, "", bytes.TrimSpace(w.a.cleanJSON(b)))
}

// flatten stores the members of an object under joined names; lists stay JSON.
func (w *writer) flatten(j *job, document, prefix string, v []byte) error {
	if len(v) > 0 && v[0] == '{' {
		return jsontext.Walk(v, func(key, value []byte) error {
			name := jsontext.Text(append(append([]byte{'"'}, key...), '"'))
			if prefix != "" {
				name = prefix + "_" + name
			}
			return w.flatten(j, document, name, value)
		})
	}
	var value any = string(v)
	switch {
	case string(v) == "null":
		value = nil
	case len(v) > 0 && v[0] == '"':
		value = jsontext.Text(v)
	case len(v) > 0 && v[0] == '[':
		var compact bytes.Buffer
		if json.Compact(&compact, v) == nil {
			value = compact.String()
		}
	}
	_, err := w.exec("INSERT INTO documents(source, name, key, value) VALUES (?, ?, ?, ?)", j.id, document, prefix, value)
	return err
}

// putFile stores a file of the snapshot: text as it is, other bytes in
// hexadecimal digits when there are few.
func (w *writer) putFile(j *job, name string) error {
	b, err := j.bundle.ReadFile(name, maxDocument)
	if err != nil {
		return err
	}
	var content any
	switch {
	case utf8.Valid(b):
		content = string(w.a.clean(b))
	case len(b) <= 64<<10:
		content = hex.EncodeToString(b)
	}
	_, err = w.exec("INSERT INTO bundle_files(source, path, content, size_bytes) VALUES (?, ?, ?, ?)",
		j.id, strings.TrimPrefix(name, "filesystem/"), content, len(b))
	return err
}

// putSlices stores state items: one a line with its type in __type__, or
// snapshots of many.
func (w *writer) putSlices(j *job, name string) error {
	r, err := j.bundle.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	var readErr error
	for line := range transcript.Lines(io.Reader(r), &readErr) {
		if !jsontext.Valid(line) {
			continue
		}
		line = w.a.cleanJSON(line)
		m := jsontext.Members(line, "slices", "__type__")
		if m[0] == nil {
			if err := w.putSlice(j, jsontext.Text(m[1]), line); err != nil {
				return err
			}
			continue
		}
		err := jsontext.Elements(m[0], func(slice []byte) error {
			s := jsontext.Members(slice, "slice_type", "items")
			if s[1] == nil {
				return nil
			}
			return jsontext.Elements(s[1], func(v []byte) error { return w.putSlice(j, jsontext.Text(s[0]), v) })
		})
		if err != nil {
			return err
		}
	}
	return readErr
}

func (w *writer) putSlice(j *job, typ string, data []byte) error {
	if typ == "" {
		typ = "unknown"
	}
	_, err := w.exec("INSERT INTO slices(source, slice_type, data) VALUES (?, ?, ?)", j.id, typ, string(data))
	return err
}

var notWord = regexp.MustCompile(`[^a-z0-9_]`)

// SlicePrefix begins the name of every view of state items.
const SlicePrefix = "slice_"

// sliceTable is the name of the view of a type: of myapp.state:AgentPlan it is
// slice_agentplan.
func sliceTable(typ string) string {
	typ = typ[strings.LastIndexByte(typ, ':')+1:]
	typ = typ[strings.LastIndexByte(typ, '.')+1:]
	return SlicePrefix + notWord.ReplaceAllString(strings.ToLower(typ), "_")
}

// sliceViews makes a view per type of state item, with a column per member.
func (w *writer) sliceViews() error {
	rows, err := w.tx.Query(`SELECT l.slice_type, e.key FROM slices l, json_each(l.data) e WHERE e.key <> '__type__'
		GROUP BY 1, 2 ORDER BY 1, min(l.rowid), min(e.id)`)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns := map[string][]string{}
	types := map[string][]string{}
	for rows.Next() {
		var typ, key string
		if err := rows.Scan(&typ, &key); err != nil {
			return err
		}
		table := sliceTable(typ)
		if !slices.Contains(types[table], typ) {
			types[table] = append(types[table], typ)
		}
		same := func(c string) bool { return strings.EqualFold(c, key) }
		if len(columns[table]) < 200 && !slices.ContainsFunc(columns[table], same) {
			columns[table] = append(columns[table], key)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for table, keys := range columns {
		var b strings.Builder
		fmt.Fprintf(&b, "CREATE VIEW %s AS SELECT l.rowid AS rowid, s.run AS bundle", table)
		for _, k := range keys {
			if k == "rowid" || k == "bundle" {
				continue
			}
			name := `"` + strings.ReplaceAll(k, `"`, `""`) + `"`
			fmt.Fprintf(&b, ", json_extract(l.data, %s) AS %s", sqlText(`$."`+k+`"`), name)
		}
		b.WriteString(" FROM slices l JOIN sources s ON s.id = l.source WHERE l.slice_type IN (")
		for i, t := range types[table] {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(sqlText(t))
		}
		b.WriteString(")")
		if _, err := w.tx.Exec(b.String()); err != nil {
			return err
		}
	}
	return nil
}

func sqlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
