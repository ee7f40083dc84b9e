package unfold

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/atomicfile"
	"conclave/internal/jsontext"
	"conclave/internal/lockfile"
	"conclave/internal/pack"
	"conclave/session/kind"
	"conclave/session/tree"
	"conclave/transcript"
	"conclave/workspace"
)

// barren are directories that programs keep beside their sessions, with thousands
// of files and no store among them.
var barren = []string{".git", "node_modules", "snapshot", "repos"}

// Find lists the stores of the kinds at root, a file or a directory, which need
// not exist; package tree says which links are followed.
func Find(root string, kinds []*kind.Kind) (stores []Store, err error) {
	err = tree.Walk([]string{root}, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // gone since, or not ours to read
		}
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(barren, d.Name()) {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		for _, k := range kinds {
			if k.Store == nil || !k.Store(path) {
				continue
			}
			if s := (Store{path, k}); !s.unpacked() {
				stores = append(stores, s)
			} else if path == root {
				return fmt.Errorf("%s: its lines lie beside it: name %s", path, s.plain())
			}
			break
		}
		return nil
	})
	return stores, err
}

// Store is a file in which a program keeps sessions otherwise than in lines.
type Store struct {
	Path string
	Kind *kind.Kind
}

// packed says that the store is a file of lines, packed.
func (s Store) packed() bool { return s.Kind.Rows == nil }

// plain is the path that a packed file had before it was packed.
func (s Store) plain() string { return strings.TrimSuffix(s.Path, kind.Packed) }

// unpacked says that the lines of a packed file lie beside it: it is being packed,
// or its program goes on with the session.
func (s Store) unpacked() bool {
	if !s.packed() {
		return false
	}
	_, err := os.Stat(s.plain())
	return err == nil
}

// Dir is where its lines lie below spool.
func (s Store) Dir(spool string) string {
	sum := sha256.Sum256([]byte(s.Path))
	return filepath.Join(spool, s.Kind.Name+"-"+hex.EncodeToString(sum[:6]))
}

// Origin is the path of the store whose lines lie in dir; "" as long as they are
// not all there.
func Origin(dir string) string {
	if _, err := os.Stat(filepath.Join(dir, stampFile)); err != nil {
		return ""
	}
	return begun(dir)
}

// begun is the path of the store whose lines lie in dir, or are to; "" of a
// directory that is none of ours.
func begun(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, originFile))
	if err != nil {
		return ""
	}
	return string(text)
}

// Update appends what is new in the store to the lines below spool.
func (s Store) Update(ctx context.Context, spool string) error {
	u := update{store: s, dir: s.Dir(spool), sessions: map[string]*lines{}}
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return fmt.Errorf("unfold %s: %w", s.Path, err)
	}
	lock, err := lockfile.WaitLock(ctx, filepath.Join(u.dir, "lock"), "unfolding sessions")
	if err != nil {
		return fmt.Errorf("unfold %s: %w", s.Path, err)
	}
	err = errors.Join(u.run(ctx), lock.Unlock())
	if err != nil {
		return fmt.Errorf("unfold %s: %w", s.Path, err)
	}
	return nil
}

// ErrNotYet is what Rows returns of a store that is just being written: it is read
// the next time.
var ErrNotYet = errors.New("it is being written")

// stampFile says of which state of the store the lines are.
const stampFile = "stamp"

// stamp names the state of a store: its size and time, and those of its journal.
func stamp(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintln(path, info.Size(), info.ModTime().UnixNano())
	if wal, err := os.Stat(path + journal); err == nil {
		text += fmt.Sprintln(wal.Size(), wal.ModTime().UnixNano())
	}
	return text, nil
}

// update is the work of Update.
type update struct {
	store    Store
	dir      string
	sessions map[string]*lines
	held     int // bytes of lines that are not written yet
}

// mostHeld bounds what is held of a large store.
const mostHeld = 16 << 20

// lines are those of one session.
type lines struct {
	path  string
	had   map[string][8]byte // the digest of the last line of each row
	seen  map[string]bool
	fresh bytes.Buffer
	torn  bool // what is there does not end with a line
}

func (u *update) run(ctx context.Context) error {
	now, err := stamp(u.store.Path)
	if err != nil {
		return err
	}
	if begun(u.dir) == "" {
		if err := atomicfile.Replace(filepath.Join(u.dir, originFile), []byte(u.store.Path), 0o600); err != nil {
			return err
		}
	}
	file := filepath.Join(u.dir, stampFile)
	if was, err := os.ReadFile(file); err == nil && string(was) == now {
		return nil
	}
	if u.store.packed() {
		if err := u.unpack(); err != nil {
			return err
		}
		return atomicfile.Replace(file, []byte(now), 0o600)
	}
	if err := u.store.Kind.Rows(ctx, u.store.Path, u.row); errors.Is(err, ErrNotYet) {
		return nil
	} else if err != nil {
		return err
	}
	if err := u.gone(); err != nil {
		return err
	}
	if err := u.write(); err != nil {
		return err
	}
	return atomicfile.Replace(file, []byte(now), 0o600)
}

// originFile says which store the lines are of; it is there before they are.
const originFile = "origin"

// mostUnpacked bounds what a packed file may become on the disk.
const mostUnpacked = 4 << 30

// unpack makes the file of lines that was packed, under the name that it had.
func (u *update) unpack() error {
	f, err := workspace.OpenNamed(u.store.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.Fill(filepath.Join(u.dir, filepath.Base(u.store.plain())), 0o600, func(w io.Writer) error {
		return pack.Unzstd(w, f, mostUnpacked)
	})
}

// Sweep removes the lines below spool of packed files that are there no more, and
// of those that their program has unpacked again: its own file has them.
func Sweep(spool string, kinds []*kind.Kind) error {
	dirs, err := os.ReadDir(spool)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, d := range dirs {
		dir := filepath.Join(spool, d.Name())
		path := begun(dir)
		for _, k := range kinds {
			s := Store{path, k}
			if k.Store == nil || !s.packed() || s.Dir(spool) != dir {
				continue
			}
			if _, e := os.Stat(s.Path); errors.Is(e, fs.ErrNotExist) || s.unpacked() {
				err = errors.Join(err, os.RemoveAll(dir))
			}
		}
	}
	return err
}

// row takes one row of the store.
func (u *update) row(r kind.Row) error {
	l, err := u.session(r.Session)
	if err != nil {
		return err
	}
	id := rowID(r.Table, r.Key)
	l.seen[id] = true
	line := appendRow(nil, u.store.Kind.Name, r)
	if sum := digest(line); l.had[id] != sum {
		l.had[id] = sum
		l.fresh.Write(append(line, '\n'))
		u.held += len(line) + 1
	}
	if u.held >= mostHeld {
		return u.write()
	}
	return nil
}

// write appends what is new to the files of all sessions. It may be the beginning
// of an update: whoever finds it later finds these rows known.
func (u *update) write() error {
	for _, l := range u.sessions {
		if err := l.write(); err != nil {
			return err
		}
	}
	u.held = 0
	return nil
}

// appendRow appends the line of a row.
func appendRow(dst []byte, from string, r kind.Row) []byte {
	member := func(name, value string) {
		dst = append(append(append(dst, '"'), name...), `":`...)
		dst, _ = jsontext.AppendString(dst, []byte(value))
		dst = append(dst, ',')
	}
	dst = append(dst, '{')
	member("from", from)
	member("table", r.Table)
	member("key", r.Key)
	member("session", r.Session)
	if r.Directory != "" {
		member("cwd", r.Directory)
	}
	if len(r.About) > 0 {
		dst = append(append(append(dst, `"about":`...), r.About...), ',')
	}
	dst = append(append(dst, `"row":`...), r.Members...)
	return append(dst, '}')
}

func rowID(table, key string) string { return table + "\x00" + key }

func digest(line []byte) (d [8]byte) {
	sum := sha256.Sum256(line)
	copy(d[:], sum[:])
	return d
}

// gone says of rows that they are no longer there.
func (u *update) gone() error {
	files, err := filepath.Glob(filepath.Join(u.dir, "*.jsonl"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := u.session(strings.TrimSuffix(filepath.Base(f), ".jsonl")); err != nil {
			return err
		}
	}
	for name, l := range u.sessions {
		var ids []string
		for id, sum := range l.had {
			if !l.seen[id] && sum != ([8]byte{}) {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		for _, id := range ids {
			table, key, _ := strings.Cut(id, "\x00")
			r := kind.Row{Session: name, Table: table, Key: key, Members: []byte("null")}
			l.fresh.Write(append(appendRow(nil, u.store.Kind.Name, r), '\n'))
		}
	}
	return nil
}

var plainName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,99}$`)

// session has the lines of a session as they are on the disk.
func (u *update) session(name string) (*lines, error) {
	if !plainName.MatchString(name) {
		sum := sha256.Sum256([]byte(name))
		name = "session-" + hex.EncodeToString(sum[:8])
	}
	l := u.sessions[name]
	if l != nil {
		return l, nil
	}
	l = &lines{path: filepath.Join(u.dir, name+".jsonl"), had: map[string][8]byte{}, seen: map[string]bool{}}
	u.sessions[name] = l
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return l, l.read(f)
}

// read takes up what is there.
func (l *lines) read(f io.Reader) error {
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if text, whole := bytes.CutSuffix(line, []byte("\n")); whole {
			m := jsontext.Members(text, "table", "key", "row")
			if id := rowID(jsontext.Text(m[0]), jsontext.Text(m[1])); m[0] == nil {
			} else if string(m[2]) == "null" {
				l.had[id] = [8]byte{}
			} else {
				l.had[id] = digest(text)
			}
		} else if len(line) > 0 {
			l.torn = true
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// write appends what is new.
func (l *lines) write() (err error) {
	if l.fresh.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if l.torn { // by whoever died here
		if _, err := f.WriteString("\n"); err != nil {
			return err
		}
	}
	_, err = f.Write(l.fresh.Bytes())
	l.fresh, l.torn = bytes.Buffer{}, false
	return err
}

// Sniff says whether a line is one of a store of that kind.
func Sniff(name string) func(line []byte) bool {
	quoted := jsontext.Quote(name)
	mark := append(append([]byte(`{"from":`), quoted...), `,"table":`...)
	return func(line []byte) bool {
		if bytes.HasPrefix(line, mark) { // as Update writes them
			return true
		}
		m := jsontext.Members(line, "from", "table", "key", "row")
		return bytes.Equal(m[0], quoted) && m[1] != nil && m[2] != nil && m[3] != nil
	}
}

// Locate is the Locate of a kind of that name: its files lie where Update puts
// them.
func Locate(name string) func(string, func() ([]byte, error)) (kind.File, bool, error) {
	return func(path string, first func() ([]byte, error)) (kind.File, bool, error) {
		dir := filepath.Dir(path)
		session, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
		if !ok || !strings.HasPrefix(filepath.Base(dir), name+"-") {
			return kind.File{}, false, nil
		}
		f := kind.File{Path: path, Source: transcript.Main, Session: session, Dir: dir, Project: name}
		line, err := first()
		if err == nil && !Sniff(name)(line) {
			return kind.File{}, false, nil
		}
		if cwd := jsontext.Text(jsontext.Get(line, "cwd")); cwd != "" {
			f.Project = filepath.Base(filepath.FromSlash(cwd))
		}
		f.Parent = jsontext.Text(jsontext.Get(line, "row", "parent_id"))
		return f, true, err
	}
}

// Row takes a line apart; row is nil where it is gone.
func Row(line []byte) (table, key, session string, row []byte) {
	m := jsontext.Members(line, "table", "key", "session", "row")
	if string(m[3]) != "null" {
		row = m[3]
	}
	return jsontext.Text(m[0]), jsontext.Text(m[1]), jsontext.Text(m[2]), row
}

// Messages yields the rows of a session that is one document, rewritten as it
// grows: what stands beside its member messages, in the table head, and each of the
// messages, by its id, or by its place where it has none. A document that is not
// whole is ErrNotYet.
func Messages(document []byte, session, head string, yield func(kind.Row) error) error {
	left, messages := apart(document, "messages")
	if left == nil {
		return ErrNotYet
	}
	err := yield(kind.Row{Session: session, Table: head, Key: session, Members: left})
	if err != nil || len(messages) == 0 || messages[0] != '[' {
		return err
	}
	n := 0
	return jsontext.Elements(messages, func(v []byte) error {
		id := jsontext.Text(jsontext.Get(v, "id"))
		if n++; id == "" {
			id = strconv.Itoa(n)
		}
		return yield(kind.Row{Session: session, Table: "message", Key: id, Members: Compact(v)})
	})
}

// apart takes the member list out of an object, and returns what is left of it, on
// one line; nil when it is no object.
func apart(object []byte, list string) (left, elements []byte) {
	left = []byte{'{'}
	err := jsontext.Walk(object, func(key, value []byte) error {
		if string(key) == list {
			elements = value
			return nil
		}
		if len(left) > 1 {
			left = append(left, ',')
		}
		left, _ = jsontext.AppendString(left, key)
		left = append(append(left, ':'), Compact(value)...)
		return nil
	})
	if err != nil {
		return nil, nil
	}
	return append(left, '}'), elements
}

// Compact is v on one line, if it is JSON; else as a JSON string.
func Compact(v []byte) []byte {
	if !jsontext.Valid(v) {
		return jsontext.Quote(string(v))
	}
	if bytes.IndexByte(v, '\n') < 0 {
		return v
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return jsontext.Quote(string(v))
	}
	return b.Bytes()
}
