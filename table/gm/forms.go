package gm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"conclave/dice"
	"conclave/internal/markdown"
	"conclave/table"
	"conclave/table/story"
)

// Turn is what a game master said: words, and the calls of its tools among them.
type Turn struct {
	ID    string         `json:"id,omitempty"`
	Text  string         `json:"text"`
	Calls []Call         `json:"calls,omitempty"`
	Files []table.HandIn `json:"files,omitempty"` // that it wrote itself
}

// Silent says that nothing at all was said or done.
func (t Turn) Silent() bool {
	return strings.TrimSpace(t.Text) == "" && len(t.Calls) == 0 && len(t.Files) == 0
}

// Call is a call of a tool that was not refused.
type Call struct {
	Tool  string
	Input json.RawMessage
	// Said is how much of the turn's text had been said before it.
	Said int `json:",omitempty"`
}

// Reader reads turns. It must never be given a player's text.
type Reader struct {
	Campaign string
	Roster   table.Roster
	Caps     table.Caps
	// OwnLines: a signal stands on a line of its own and nowhere else. So it was
	// in the first version of a cycle.
	OwnLines bool
	// Rolled finds the dice that a call of roll let fall; nil if there are none.
	Rolled func(input json.RawMessage) (dice.Line, error)
}

// Read reads a turn: what its calls ask for, and what its words do. When the
// party hears its narrative by a tool, it does not hear the words beside it:
// programs like to report what they have just done. Forms among them count.
func (r Reader) Read(t Turn) Intent {
	calls := r.calls(t.Calls)
	text, after := t.Text, ""
	if calls.Signal.Found {
		text, after = text[:calls.handed], text[calls.handed:]
	}
	w := words{roster: r.Roster, ownLines: r.OwnLines}
	from := 0
	for _, p := range calls.placed {
		at := min(max(p.said, from), len(text))
		w.read(text[from:at])
		w.put(p)
		from = at
	}
	w.read(text[from:])
	w.finish(calls.quiet)
	o := w.Intent
	if len(o.Withheld) > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("%d characters beside narrate were told to nobody: "+
			"who narrates to the party with the tool says everything with it", len(o.Withheld[0])))
	}
	handed := r.handedIn(t.Files)
	o.Files = slices.Concat(calls.Files, handed.Files, o.Files)
	o.Notes, o.Faults = append(o.Notes, handed.Notes...), append(handed.Faults, o.Faults...)
	o.Statuses = append(calls.Statuses, o.Statuses...)
	o.Combat = append(calls.Combat, o.Combat...)
	if calls.Huddle != nil {
		o.Huddle = calls.Huddle
	}
	o.Faults = append(calls.Faults, o.Faults...)
	o.Fallen, o.End = calls.Fallen, o.End || calls.End
	if calls.Scene != nil {
		o.Scene = calls.Scene
	}
	behind := w.after.String()
	if calls.Signal.Found {
		o.awaitByTool(calls.Signal, after)
		behind = strings.TrimSpace(behind) + after
	}
	o.Withheld = append(o.Withheld, behind)
	if size := int64(len(t.Text)) + calls.size(); size > r.Caps.Narrative {
		o.Told = nil
		o.Faults = append(o.Faults, fmt.Sprintf("the text has %d bytes, limit %d: nothing of it was taken; say it shorter",
			size, r.Caps.Narrative))
	}
	return o
}

// handedIn are the files that a game master wrote itself. They are taken as if
// they stood between [FILE: …] and [/FILE].
func (r Reader) handedIn(files []table.HandIn) (o Intent) {
	for _, f := range files {
		if f.Fault != "" {
			o.Notes = append(o.Notes, fmt.Sprintf("%s was not taken: %s", Clip(f.Name, 80), f.Fault))
			continue
		}
		o.addFile(File{Path: f.In(r.Campaign), Text: markdown.EndLine(clean(f.Text))}, r.Roster)
	}
	return o
}

// awaitByTool: a call of await_players goes before a signal in words.
func (o *Intent) awaitByTool(s Signal, after string) {
	if o.Signal.Found {
		o.Notes = append(o.Notes, "await_players was called; the signal in the text was not run")
	}
	o.Signal = s
	if strings.TrimSpace(after) != "" {
		o.Notes = append(o.Notes, fmt.Sprintf(
			"%d characters after await_players were withheld from everyone: end the turn with the call", len(after)))
	}
}

var (
	fileOpen    = regexp.MustCompile(`(?i)^\[FILE(\+?):\s*(.+?)\s*\]$`)
	fileClose   = regexp.MustCompile(`(?i)^\[/FILE\]$`)
	anySignal   = regexp.MustCompile(`(?i)\[AWAIT_AI_PLAYERS[:\]]`)
	controlLine = regexp.MustCompile(`(?i)^\[(ROLL|SCENE|STATUS|COMBAT|HUDDLE):\s*(.+?)\s*\]$|^\[(END_SESSION)\]$`)
)

// newer are the forms that cycles of the first version do not know.
var newer = map[string]bool{"COMBAT": true, "HUDDLE": true}

// words reads what was said, line by line. Forms stand on lines of their own,
// outside of fenced code; where one stood the text goes on with a new paragraph.
type words struct {
	Intent
	roster   table.Roster
	ownLines bool            // as in Reader
	text     strings.Builder // without forms, up to a signal
	cuts     []int           // where in it something stands,
	items    []item          // and what
	late     []Passage       // what tools said behind a signal
	after    strings.Builder // the words behind it
	notRun   []string        // names of later signals
}

// item is a roll, or what a call of a tool says.
type item struct {
	roll *Roll
	told []Passage
}

// clean takes out what no text has: NUL, bytes that are no UTF-8, byte order
// marks, and a private-use character that nobody can see.
func clean(text string) string {
	return strings.ReplaceAll(strings.TrimLeft(markdown.Clean(text), "\ufeff"), "\ue000", "")
}

func (w *words) write(text string) {
	if w.Signal.Found {
		w.after.WriteString(text)
	} else {
		w.text.WriteString(text)
	}
}

// put puts what a call says where the text has got to. Behind a signal in words
// it stands as well: it was an act of its own.
func (w *words) put(p placed) {
	if w.Signal.Found {
		w.late = append(w.late, p.told...)
	}
	w.cut(item{told: p.told})
}

// cut ends a paragraph, and begins another.
func (w *words) cut(it item) {
	w.write("\n")
	if !w.Signal.Found && (it.roll != nil || it.told != nil) {
		w.cuts, w.items = append(w.cuts, w.text.Len()), append(w.items, it)
	}
	w.write("\n\n")
}

func (w *words) read(text string) {
	lines := strings.Split(clean(text), "\n")
	var fence markdown.Fence // a call ends code: better a form too many than a file told to all
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		bare := strings.Trim(line, table.Decoration)
		if fence.Inside(line) {
			w.write(line + "\n")
		} else if m := fileOpen.FindStringSubmatch(bare); m != nil {
			i = w.file(File{Path: m[2], Append: m[1] != ""}, lines, i)
		} else if m := controlLine.FindStringSubmatch(bare); m != nil && !(w.ownLines && newer[strings.ToUpper(m[1])]) {
			w.control(strings.ToUpper(m[1]+m[3]), m[2])
		} else if n := w.signal(lines[i:]); n > 0 {
			i += n - 1
		} else if n := w.signalBehind(lines[i:]); n > 0 {
			i += n - 1
		} else {
			w.write(line + "\n")
		}
	}
}

// signal takes the signal that opens these lines, and says how many it has.
func (w *words) signal(lines []string) int {
	if !opensSignal(lines[0]) {
		return 0
	}
	names, fault, n := readSignal(lines)
	switch {
	case n == 0:
	case w.Signal.Found:
		w.notRun = append(w.notRun, names...)
		w.write(strings.Join(lines[:n], "\n") + "\n")
	default:
		w.Signal = Signal{Found: true, Names: names, Fault: fault}
	}
	return n
}

// signalBehind takes a signal that ends a line of words, which are told, and says
// how many lines it has. What has words on both sides is a text.
func (w *words) signalBehind(lines []string) int {
	found := anySignal.FindAllStringIndex(lines[0], -1)
	quoted := strings.HasPrefix(strings.TrimLeft(lines[0], " \t"), ">") // none of the game master's own words
	if found == nil || quoted || w.ownLines {
		return 0
	}
	at := found[len(found)-1][0]
	before, signal := lines[0][:at], append([]string{lines[0][at:]}, lines[1:]...)
	if _, _, n := readSignal(signal); n == 0 {
		return 0
	}
	bare := strings.TrimRight(before, strings.TrimLeft(table.Decoration, " \t"))
	if strings.TrimRight(bare, " \t") != bare { // **[…]**: the marks are the signal's
		before = bare
	}
	w.write(strings.TrimRight(before, " \t") + "\n")
	return w.signal(signal)
}

// tooLate notes a form that stands behind the signal.
func (w *words) tooLate(what string) bool {
	if w.Signal.Found {
		w.Notes = append(w.Notes, "what stood after the signal was not taken: "+what)
	}
	return w.Signal.Found
}

// file takes a file, and returns the line that closes it.
func (w *words) file(f File, lines []string, at int) int {
	end := slices.IndexFunc(lines[at+1:], func(l string) bool { return fileClose.MatchString(strings.TrimSpace(l)) })
	last := at + 1 + end
	if end < 0 {
		last = len(lines)
	}
	name := "FILE " + Clip(f.Path, 80)
	switch {
	case w.tooLate(name):
	case end < 0:
		w.Faults = append(w.Faults, name+": the file is not closed by [/FILE]: nothing was written")
	default:
		f.Text = strings.Join(lines[at+1:last], "\n") + "\n"
		w.addFile(f, w.roster)
	}
	w.cut(item{})
	return last
}

// control takes one form of a line.
func (w *words) control(word, rest string) {
	var it item
	if !w.tooLate(word) {
		switch word {
		case "ROLL":
			roll, err := parseRoll(rest, w.roster)
			if err != nil {
				w.Faults = append(w.Faults, "ROLL: "+err.Error())
				break
			}
			w.Rolls, it.roll = append(w.Rolls, roll), roll
		case "SCENE":
			title, place, _ := strings.Cut(rest, "|")
			w.Scene = newScene(strings.TrimSpace(title), strings.TrimSpace(place))
		case "STATUS":
			name, status, _ := strings.Cut(rest, " ")
			w.AddStatus(strings.TrimSpace(name), strings.TrimSpace(status), w.roster)
		case "COMBAT":
			w.AddCombat(rest)
		case "HUDDLE":
			w.addHuddle(rest, w.roster)
		case "END_SESSION":
			w.End = true
		}
	}
	w.cut(it)
}

func newScene(title, place string) *story.Scene {
	return &story.Scene{Title: Clip(title, table.MaxTitle), Place: Clip(place, 200)}
}

// finish makes passages of the text. quiet: the party hears its narrative by a
// tool.
func (w *words) finish(quiet bool) {
	if after := w.after.String(); strings.TrimSpace(after) != "" {
		w.Notes = append(w.Notes,
			fmt.Sprintf("%d characters after the signal were withheld from everyone", len(strings.TrimSpace(after))))
	}
	if len(w.notRun) > 0 {
		w.Notes = append(w.Notes, "only the first signal counts; not run: "+strings.Join(w.notRun, ", "))
	}
	stretches, faults := table.ParseStretches(w.text.String(), w.cuts, w.roster)
	var aside strings.Builder
	for _, s := range stretches {
		p := Passage{Audience: s.Audience}
		end := func() {
			if quiet && p.Audience.Party {
				aside.WriteString(strings.TrimSpace(p.raw(nil)) + "\n")
			} else {
				w.tell(p)
			}
			p.Parts = nil
		}
		for i, text := range s.Texts {
			p.Parts = append(p.Parts, Part{Words: text})
			if i == len(s.Cuts) {
				break
			}
			if it := w.items[s.Cuts[i]]; it.roll != nil {
				p.Parts = append(p.Parts, Part{Roll: it.roll})
			} else {
				end()
				w.Told = append(w.Told, it.told...)
			}
		}
		end()
	}
	w.Told = append(w.Told, w.late...)
	if text := strings.TrimSpace(aside.String()); text != "" {
		w.Withheld = append(w.Withheld, text)
	}
	for _, f := range faults {
		w.Faults = append(w.Faults, f+"; that block was kept for you alone")
	}
}

// tell adds a passage, if there is something in it.
func (w *words) tell(p Passage) {
	if p.hasRolls() || p.Text(nil) != "" {
		w.Told = append(w.Told, p)
	}
}
