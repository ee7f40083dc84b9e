package claude

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"conclave/internal/jsontext"
	"conclave/session/kind"
	"conclave/session/unfold"
	"conclave/transcript"
	"conclave/workspace"
)

// What a tool gave back, if it is long, the program keeps in a file beside the
// session, …/<session>/tool-results/<name>, and the line of the session has how it
// begins and where it is. Such a file is a store of one row: unfolded, it is a line
//
//	{"from":"claude","table":"tool-result-file","key":"<name>","session":"<session>","cwd":…,
//	 "row":{"type":"tool-result-file","sessionId":…,"timestamp":…,"call":"toolu_…","bytes":…,"text":…}}
//
// of the session. The time is that of the line that tells of the file, and call is
// the tool call whose result that line has. It does not say where the file lies: a
// copy of a session has the same lines.
const (
	name       = "claude"
	resultsDir = "tool-results"
	resultFile = "tool-result-file"
)

// ResultFile is the subtype of the entry that has such a file.
const ResultFile = "tool_result_file"

// mostOfResult is how large such a file may be. Of a larger one the entry says that
// it was left out.
const mostOfResult = 32 << 20

// besideMark is how the line of such a file begins.
const besideMark = `{"from":"` + name + `","table":"` + resultFile + `","key":`

// Beside names the file beside the session's own of which a line is; "" when it is
// a line of those.
func Beside(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(besideMark))
	if !ok {
		return ""
	}
	key := jsontext.Find(rest[:min(len(rest), 4096)], `"`)
	return jsontext.Text(append(append([]byte{'"'}, key...), '"'))
}

// store says whether the file at path has what a tool gave back.
func store(path string) bool {
	ext := filepath.Ext(path)
	if ext != ".txt" && ext != ".json" || filepath.Base(path) == ext {
		return false // as most files are
	}
	dir := filepath.Dir(path)
	return filepath.Base(dir) == resultsDir && uuidName.MatchString(filepath.Base(filepath.Dir(dir)))
}

// locateBeside says what a file is that unfold has made of such a file.
func locateBeside(path string, first func() ([]byte, error)) (kind.File, bool) {
	f, ok, err := unfold.Locate(name)(path, first)
	if !ok || err != nil {
		return f, false
	}
	line, err := first()
	if err != nil {
		return f, false
	}
	if f.Beside = Beside(line); f.Beside == "" {
		return f, false
	}
	if path := unfold.Origin(f.Dir); path != "" {
		f.Dir = filepath.Dir(filepath.Dir(filepath.Dir(path)))
		f.Project = filepath.Base(f.Dir)
	}
	return f, true
}

// notedWithin is how soon after a result the program notes it in the session.
const notedWithin = 10 * time.Minute

// rows gives the one row of a file of what a tool gave back. While nothing tells of
// it that may still come: it is read the next time.
func rows(_ context.Context, path string, yield func(kind.Row) error) error {
	base, dir := filepath.Base(path), filepath.Dir(filepath.Dir(path))
	session := filepath.Base(dir)
	f, err := workspace.OpenNamed(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	call, at, directory, err := teller(dir, base)
	if err != nil {
		return err
	}
	if at == "" {
		if time.Since(info.ModTime()) < notedWithin {
			return unfold.ErrNotYet
		}
		at = info.ModTime().UTC().Format(transcript.TimeLayout)
	}
	row := appendMember([]byte(`{"type":"`+resultFile+`"`), "sessionId", session)
	row = appendMember(row, "timestamp", at)
	if call != "" {
		row = appendMember(row, "call", call)
	}
	row = appendRaw(row, "bytes", strconv.AppendInt(nil, info.Size(), 10))
	if info.Size() > mostOfResult {
		row = appendRaw(row, "left_out", []byte("true"))
		row = appendMember(row, "text", "(left out: "+base+" has "+strconv.FormatInt(info.Size(), 10)+
			" bytes, more than "+strconv.Itoa(mostOfResult)+")")
	} else {
		text, err := io.ReadAll(io.LimitReader(f, mostOfResult))
		if err != nil {
			return err
		}
		if !utf8.Valid(text) {
			row = appendMember(row, "base64", base64.StdEncoding.EncodeToString(text))
		}
		row = appendMember(row, "text", string(bytes.ToValidUTF8(text, []byte("\uFFFD"))))
	}
	return yield(kind.Row{Session: session, Table: resultFile, Key: base, Directory: directory,
		Members: append(row, '}')})
}

// teller finds the line that tells of a file of what a tool gave back, in the main
// file of the session or in those of its subagents: the call, the line's time, ""
// where there is none, and the directory that the session is about.
func teller(dir, base string) (call, at, directory string, err error) {
	files := []string{dir + ".jsonl"}
	err = filepath.WalkDir(filepath.Join(dir, subagents), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".jsonl") {
			files = append(files, path)
		}
		return nil // a directory that cannot be read has none
	})
	for _, file := range files {
		if err != nil || at != "" {
			break
		}
		call, at, directory, err = tells(file, base, directory)
	}
	return call, at, directory, err
}

func tells(file, base, directory string) (call, at, cwd string, err error) {
	f, err := workspace.OpenNamed(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", "", directory, nil
	}
	if err != nil {
		return "", "", directory, err
	}
	defer f.Close()
	quoted := jsontext.Quote(base)
	mark := quoted[1 : len(quoted)-1]
	for line := range transcript.Lines(f, &err) {
		if directory == "" {
			if cwd := jsontext.Find(line, `"cwd":"`); len(cwd) > 0 {
				directory = jsontext.Text(append(append([]byte{'"'}, cwd...), '"'))
			}
		}
		if !bytes.Contains(line, mark) {
			continue
		}
		m := jsontext.Members(line, "timestamp", "message")
		if content := jsontext.Get(m[1], "content"); len(content) > 0 && content[0] == '[' {
			_ = jsontext.Elements(content, func(v []byte) error {
				b := jsontext.Members(v, "type", "tool_use_id", "content")
				if call == "" && string(b[0]) == `"tool_result"` && bytes.Contains(b[2], mark) {
					call, at = jsontext.Text(b[1]), jsontext.Text(m[0])
				}
				return nil
			}) // what is no array tells of no call
		}
		if at != "" {
			break
		}
	}
	return call, at, directory, err
}
