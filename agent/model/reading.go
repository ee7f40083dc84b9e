package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"conclave/agent"
	"conclave/internal/schema"
)

// The reading tools, by the names that agent.Tools.Builtin uses.
const (
	ListFiles   = "list_files"
	ReadFile    = "read_file"
	SearchFiles = "search_files"
)

// What the reading tools give at once, and look at.
const (
	mostNames  = 1000
	mostDepth  = 12
	usualDepth = 2
	mostText   = 96 << 10 // bytes of one file
	mostScan   = 16 << 20 // bytes of one file that lines are looked for in

	mostMatches = 200
	mostFiles   = 20_000
	mostBytes   = 64 << 20
	mostFile    = 2 << 20
	mostWidth   = 300 // bytes of a line that is found
)

type reader func(ctx context.Context, files fs.FS, input json.RawMessage) (string, error)

var readers = map[string]reader{ListFiles: listFiles, ReadFile: readFile, SearchFiles: searchFiles}

const place = `{"type":"string","description":"slash-separated, from the top of the files you are shown; . is the top"}`

var readingOffers = []agent.ToolOffer{
	{Name: ListFiles, Description: "List the files that you are shown, with their sizes; directories end in a slash.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"path":` + place +
			`,"depth":{"type":"integer","minimum":1,"maximum":12,"description":"how many levels; usually 2"}}}`)},
	{Name: ReadFile, Description: "Read a text file, or some of its lines. Lines are numbered.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["path"],"properties":{` +
			`"path":` + place + `,"from":{"type":"integer","minimum":1,"description":"first line"},` +
			`"to":{"type":"integer","minimum":1,"description":"last line"}}}`)},
	{Name: SearchFiles, Description: "Find lines in the files that you are shown.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["text"],"properties":{` +
			`"text":{"type":"string","minLength":1,"description":"what to look for, as it stands there"},` +
			`"regexp":{"type":"boolean","description":"text is a regular expression (RE2)"},` +
			`"ignore_case":{"type":"boolean"},"path":` + place + `}}`)},
}

// reading are the reading tools that a session has.
func reading(spec agent.Spec) (out []agent.ToolOffer) {
	if spec.Files == nil {
		return nil
	}
	for _, o := range readingOffers {
		if !slices.Contains(spec.Tools.Builtin, o.Name) && !slices.Contains(spec.Tools.Builtin, agent.AllTools) {
			continue
		}
		if slices.ContainsFunc(spec.Tools.Offers, func(t agent.ToolOffer) bool { return t.Name == o.Name }) {
			continue // the room's own of that name is the one that is meant
		}
		out = append(out, o)
	}
	return out
}

// reads says whether a name is a reading tool here, and not one of the room's.
func (t *turn) reads(name string) bool {
	return slices.ContainsFunc(reading(t.spec), func(o agent.ToolOffer) bool { return o.Name == name })
}

// arguments of all three.
type arguments struct {
	Path       string `json:"path"`
	Depth      int    `json:"depth"`
	From       int    `json:"from"`
	To         int    `json:"to"`
	Text       string `json:"text"`
	Regexp     bool   `json:"regexp"`
	IgnoreCase bool   `json:"ignore_case"`
}

func parse(tool string, input json.RawMessage) (a arguments, err error) {
	i := slices.IndexFunc(readingOffers, func(o agent.ToolOffer) bool { return o.Name == tool })
	form, err := schema.Compile(readingOffers[i].Schema)
	if err != nil {
		return a, err
	}
	if err := form.Check(input); err != nil {
		return a, fmt.Errorf("the input of %s does not fit: %w", tool, err)
	}
	if err := json.Unmarshal(input, &a); err != nil {
		return a, fmt.Errorf("the input of %s cannot be read: %w", tool, err)
	}
	a.Path = path.Clean(strings.TrimSuffix(strings.TrimPrefix(a.Path, "./"), "/"))
	if !fs.ValidPath(a.Path) {
		return a, fmt.Errorf("the path %q leads elsewhere: it begins at the top of the files you are shown, without \"..\"",
			a.Path)
	}
	return a, nil
}

// unreadable says what is wrong with a file in words for the model.
func unreadable(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s: %s says what there is", name, ListFiles)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s is not shown to you", name)
	}
	return fmt.Errorf("%s cannot be read: %v", name, bareError(err))
}

// bareError is an error without the path that this machine knows the file by.
func bareError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func listFiles(ctx context.Context, files fs.FS, input json.RawMessage) (string, error) {
	a, err := parse(ListFiles, input)
	if err != nil {
		return "", err
	}
	if a.Depth == 0 {
		a.Depth = usualDepth
	}
	var b strings.Builder
	n := 0
	more, err := walk(ctx, files, a.Path, a.Depth, func(name string, d fs.DirEntry) (bool, error) {
		if n++; n > mostNames {
			return false, nil
		}
		switch {
		case d.IsDir():
			fmt.Fprintf(&b, "%s/\n", name)
		case d.Type().IsRegular():
			size := int64(-1)
			if info, err := d.Info(); err == nil {
				size = info.Size()
			}
			fmt.Fprintf(&b, "%s  %d bytes\n", name, size)
		default:
			fmt.Fprintf(&b, "%s  (%s)\n", name, what(d.Type()))
		}
		return true, nil
	})
	if err != nil {
		return "", err
	}
	switch {
	case n > mostNames:
		fmt.Fprintf(&b, "(more than %d names: list a directory of it)\n", mostNames)
	case more:
		fmt.Fprintf(&b, "(deeper levels are not listed: say a greater depth, or list a directory)\n")
	case n == 0:
		return "(nothing is there)", nil
	}
	return b.String(), nil
}

func what(m fs.FileMode) string {
	if m&fs.ModeSymlink != 0 {
		return "a link"
	}
	return "no file"
}

// walk visits what is below a directory, in order, and says whether anything was
// too deep for it. Links are not followed.
func walk(
	ctx context.Context, files fs.FS, dir string, depth int, visit func(string, fs.DirEntry) (bool, error),
) (deeper bool, err error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return false, unreadable(dir, err)
	}
	if depth == 0 {
		return len(entries) > 0, nil
	}
	for _, d := range entries {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		name := path.Join(dir, d.Name())
		on, err := visit(name, d)
		if err != nil || !on {
			return deeper, err
		}
		if !d.IsDir() {
			continue
		}
		more, err := walk(ctx, files, name, depth-1, visit)
		if err != nil && ctx.Err() != nil {
			return deeper, err
		}
		deeper = deeper || more // a directory that cannot be read is listed, and no more
	}
	return deeper, nil
}

func readFile(ctx context.Context, files fs.FS, input json.RawMessage) (string, error) {
	a, err := parse(ReadFile, input)
	if err != nil {
		return "", err
	}
	if a.From == 0 {
		a.From = 1
	}
	if a.To != 0 && a.To < a.From {
		return "", fmt.Errorf("from line %d to line %d is nothing", a.From, a.To)
	}
	f, err := files.Open(a.Path)
	if err != nil {
		return "", unreadable(a.Path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", unreadable(a.Path, err)
	}
	if info.IsDir() {
		return "", fmt.Errorf("%s is a directory: %s says what is in it", a.Path, ListFiles)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", a.Path)
	}
	return lines(ctx, a, info.Size(), f)
}

// lines gives the lines that were asked for, as many as fit.
func lines(ctx context.Context, a arguments, size int64, r io.Reader) (string, error) {
	in := bufio.NewReaderSize(io.LimitReader(r, mostScan), 64<<10)
	if head, _ := in.Peek(8 << 10); bytes.IndexByte(head, 0) >= 0 { // a short file has no more
		return "", fmt.Errorf("%s holds no text (%d bytes)", a.Path, size)
	}
	var b strings.Builder
	n, last, full := 0, 0, false
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		line, err := in.ReadString('\n')
		if line != "" {
			n++
			switch inside := n >= a.From && (a.To == 0 || n <= a.To); {
			case inside && !full && b.Len()+len(line) <= mostText:
				fmt.Fprintf(&b, "%d\t%s\n", n, strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "\uFFFD"))
				last = n
			case inside && b.Len() == 0: // one line that is longer than all that is given
				fmt.Fprintf(&b, "%d\t%s… (the line goes on)\n", n, strings.ToValidUTF8(line[:mostText], ""))
				last, full = n, true
			case inside:
				full = true
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", unreadable(a.Path, err)
		}
	}
	whole := fmt.Sprintf("%d lines", n)
	if size > mostScan {
		whole = fmt.Sprintf("%d lines in the first %d bytes; what is behind them cannot be read", n, mostScan)
	}
	switch {
	case n == 0:
		return "(the file is empty)", nil
	case last == 0:
		return "", fmt.Errorf("%s has no line %d: it has %s", a.Path, a.From, whole)
	case full:
		fmt.Fprintf(&b, "(the file has %s: read on from line %d)\n", whole, last+1)
	case a.From > 1 || a.To != 0 && a.To < n || size > mostScan:
		fmt.Fprintf(&b, "(the file has %s)\n", whole)
	}
	return b.String(), nil
}

func searchFiles(ctx context.Context, files fs.FS, input json.RawMessage) (string, error) {
	a, err := parse(SearchFiles, input)
	if err != nil {
		return "", err
	}
	text := a.Text
	if !a.Regexp {
		text = regexp.QuoteMeta(text)
	}
	if a.IgnoreCase {
		text = "(?i)" + text
	}
	want, err := regexp.Compile(text)
	if err != nil {
		return "", fmt.Errorf("the regular expression cannot be read: %v", err)
	}
	s := &search{want: want}
	if info, err := fs.Stat(files, a.Path); err == nil && !info.IsDir() {
		_, err = s.file(files, a.Path, info.Size())
		if err != nil {
			return "", unreadable(a.Path, err)
		}
		return s.found(), nil
	}
	deeper, err := walk(ctx, files, a.Path, mostDepth, func(name string, d fs.DirEntry) (bool, error) {
		if s.stopped != "" {
			return false, nil
		}
		if !d.Type().IsRegular() {
			return true, nil
		}
		info, err := d.Info()
		if err != nil {
			s.skipped++
			return true, nil
		}
		on, err := s.file(files, name, info.Size())
		if err != nil {
			s.skipped++ // it is gone, or was never shown
		}
		return on, nil
	})
	if err != nil {
		return "", err
	}
	s.deeper = deeper
	return s.found(), nil
}

// search is one search under way.
type search struct {
	want    *regexp.Regexp
	out     strings.Builder
	matches int
	files   int
	bytes   int64
	skipped int
	stopped string
	deeper  bool
}

// file searches a file and says whether to go on.
func (s *search) file(files fs.FS, name string, size int64) (bool, error) {
	switch {
	case size > mostFile:
		s.skipped++
		return true, nil
	case s.files == mostFiles:
		s.stopped = fmt.Sprintf("after %d files", mostFiles)
		return false, nil
	case s.bytes+size > mostBytes:
		s.stopped = fmt.Sprintf("after %d bytes", s.bytes)
		return false, nil
	}
	f, err := files.Open(name)
	if err != nil {
		return true, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostFile))
	if err != nil {
		return true, err
	}
	s.files++
	s.bytes += int64(len(data))
	if bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 {
		return true, nil
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimRight(line, "\r\n"); !s.want.Match(line) {
			continue
		}
		if s.matches++; s.matches > mostMatches {
			s.stopped = fmt.Sprintf("after %d lines", mostMatches)
			return false, nil
		}
		text := strings.ToValidUTF8(string(line[:min(len(line), mostWidth)]), "")
		if len(line) > mostWidth {
			text += "…"
		}
		fmt.Fprintf(&s.out, "%s:%d: %s\n", name, n, text)
	}
	return true, nil
}

func (s *search) found() string {
	var notes []string
	if s.stopped != "" {
		notes = append(notes, "the search stopped "+s.stopped+": look for something rarer, or in one directory")
	}
	if s.skipped > 0 {
		notes = append(notes, fmt.Sprintf("%d files were not searched: they are longer than %d bytes, or cannot be read",
			s.skipped, mostFile))
	}
	if s.deeper {
		notes = append(notes, fmt.Sprintf("what lies deeper than %d levels was not searched", mostDepth))
	}
	out := s.out.String()
	if out == "" {
		out = fmt.Sprintf("(not found in %d files)\n", s.files)
	}
	for _, n := range notes {
		out += "(" + n + ")\n"
	}
	return out
}
