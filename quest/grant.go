package quest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"conclave/frontmatter"
	"conclave/internal/shingle"
	"conclave/policy"
	"conclave/profile"
)

// Piece is one thing a role is or is not given.
type Piece struct {
	Kind     policy.Kind
	Name     string // its path in the room, or what it is called when denied
	Bytes    []byte
	Decision policy.Decision
	// Trace is Bytes with everything blanked that does not betray this source:
	// what it quotes from elsewhere, what stood in the project before.
	// Fingerprints are made from it. A piece that is given has none.
	Trace []byte

	file   string // where a person finds it, if that is not .campaign/Name
	line   int    // the line there on which Bytes begin, less one
	traces func(words bool) traced
}

// place is where a line of the piece stands, for a person.
func (p Piece) place(line int) string {
	return fmt.Sprintf("%s:%d", cmp.Or(p.file, ".campaign/"+p.Name), p.line+line)
}

// Grants are a role's pieces. Denied pieces never enter a room; their traces
// are what an audit looks for.
type Grants struct {
	Role   policy.Role
	Given  []Piece
	Denied []Piece

	brought bool                // the criteria are somebody's own, and not the quest's
	engine  func() *shingle.Set // its own sentences
}

// NamedText is a file by name.
type NamedText struct {
	Name string
	Data []byte
}

// Material is everything there is to grant from. A zero field is nothing.
type Material struct {
	Quest         *Quest
	Transcripts   []Transcript
	CouncilReport []byte
	Profiles      map[string][]byte // by archetype
	PartyContext  []NamedText       // CLAUDE.md and the like, by project path
	Stage         string            // a checkpoint's stage
	Expectation   string            // the text of --expect
	Checks        []byte            // results of the criteria's checks, as text
	OwnVerdict    []byte            // in a discussion of it
	EarlierWork   []NamedText       // what earlier checkpoints were shown, by project path
	Archived      []NamedText       // quests that were put away, by file name
	Asked         *Asked            // what a gate asks, in place of the quest's own
	// Stood says of a text what of it stood in the project already when it was
	// said; nil where nobody looked.
	Stood func(text string) [][2]int
	// EngineSays are the engine's own sentences: whoever repeats one betrays
	// nobody.
	EngineSays []string
	// EvaluatorNames are the names the Guardian and the Dragon go under, so
	// that a reduced log does not speak of them in disguise.
	EvaluatorNames []string
}

// Asked is what a gate puts before an evaluator. Nothing of a quest that may be
// here is given then, and everything of it that the role may not know is denied.
type Asked struct {
	Criteria []Criterion // the Dragon's
	// Agreed says that they are the quest's own, which are agreed in conversations;
	// others may not argue in the words of one.
	Agreed bool
	Change []byte // what was changed to come to the work, as text
}

// ChangeFile is the name of that text in a room.
const ChangeFile = "work.diff"

// Material reads what .campaign/ holds; without a quest the rest of it, for a
// council needs none. Stage, expectation and what follows are the caller's.
func (s *Store) Material() (Material, error) {
	q, err := s.Quest()
	if err != nil && !errors.Is(err, ErrNoQuest) {
		return Material{}, err
	}
	m := Material{Quest: q}
	if m.Transcripts, err = s.Transcripts(); err != nil {
		return Material{}, err
	}
	if m.Profiles, err = s.Profiles(); err != nil {
		return Material{}, err
	}
	if m.CouncilReport, err = s.readOptional(ReportFile); err != nil {
		return Material{}, err
	}
	if m.Archived, err = s.archived(); err != nil {
		return Material{}, err
	}
	for _, who := range []policy.Role{policy.Guardian, policy.Dragon} {
		if p, _ := profile.Parse(string(who)+".md", m.Profiles[string(who)]); p != nil {
			m.EvaluatorNames = append(m.EvaluatorNames, p.SkinName)
		}
	}
	return m, nil
}

// Grant sorts the material into what the role is given and what not, piece by
// piece. Nobody is handed quest.md itself: everyone gets the sections granted.
func Grant(role policy.Role, m Material) Grants {
	g := &Grants{Role: role, engine: sync.OnceValue(m.engineWords)}
	switch {
	case m.Asked != nil:
		g.asked(m)
	case m.Quest != nil:
		g.quest(m)
	}
	g.text(policy.StageName, "stage.txt", m.Stage)
	g.text(policy.Expectation, "expectation.md", m.Expectation)
	g.add(Piece{Kind: policy.CheckResults, Name: "checks.md", Bytes: m.Checks}, whole)
	g.add(Piece{Kind: policy.VerdictOwn, Name: "verdict.md", Bytes: m.OwnVerdict}, whole)
	for _, t := range m.Transcripts {
		g.add(Piece{Kind: t.Kind, Name: "conversations/" + t.Name, Bytes: t.Data},
			func(_ []byte, words bool) traced { return conversationTrace(t, words, m.Stood) })
	}
	report := func(data []byte, words bool) traced {
		return proseTrace(data, spoken, words, nil).cutBy(m.stoodInCouncil()...)
	}
	g.add(Piece{Kind: policy.CouncilReport, Name: "council-report.md", Bytes: m.CouncilReport}, report)
	for _, who := range slices.Sorted(maps.Keys(m.Profiles)) {
		kind, name := policy.OtherProfile, "profiles/"+who+".md"
		if policy.Role(who) == role {
			kind, name = policy.OwnProfile, "profile.md"
		}
		g.add(Piece{Kind: kind, Name: name, Bytes: m.Profiles[who]}, whole)
	}
	if role == policy.Dragon { // to everyone else a stage's work is the current one
		for _, f := range m.EarlierWork {
			g.add(Piece{Kind: policy.StageWork, Name: "earlier/" + f.Name, Bytes: f.Data, file: f.Name}, whole)
		}
	}
	for _, f := range m.PartyContext {
		g.add(Piece{Kind: policy.PartyContext, Name: "context/" + f.Name, Bytes: f.Data, file: f.Name},
			func(data []byte, words bool) traced { return proseTrace(data, offered, words, nil) })
	}
	if role.Evaluator() { // what was put away is in nobody's room, but in people's heads and files
		for _, f := range m.Archived {
			g.archived(f)
		}
	}
	return *g
}

// archived denies what an earlier quest told of purpose and reasons. Its
// criteria were public to its Dragon, and may well be kept in a document.
func (g *Grants) archived(f NamedText) {
	q := Parse(f.Data)
	base := "archive/" + strings.TrimSuffix(f.Name, ".md")
	for _, p := range []Piece{
		{Kind: policy.QuestNarrative, Name: base + "/narrative.md", Bytes: []byte(q.Narrative),
			line: q.before(sectionNarrative)},
		{Kind: policy.AnticipatedDragon, Name: base + "/anticipated-dragon.md", Bytes: []byte(q.Dragon),
			line: q.before(sectionDragon)},
	} {
		p.file = ArchiveDir + "/" + f.Name
		g.add(p, func(data []byte, words bool) traced {
			return proseTrace(data, spoken, words, nil).cutBy([]byte(CriteriaText(q.Criteria)))
		})
	}
}

// prose traces a text by the person.
func prose(m manner, stood func(string) [][2]int) tracing {
	return func(data []byte, words bool) traced { return proseTrace(data, m, words, stood) }
}

// before counts the lines of quest.md before a section's text.
func (q *Quest) before(name string) int {
	if q.doc == nil {
		return 0
	}
	for _, s := range q.doc.Sections() {
		if sameName(s.Name, name) {
			blank := len(s.Body) - len(strings.TrimLeft(s.Body, " \t\r\n"))
			return s.BodyLine - 1 + strings.Count(s.Body[:blank], "\n")
		}
	}
	return 0
}

// quest grants the parts of quest.md. A damaged file is granted to nobody: no
// one could tell what is in it.
func (g *Grants) quest(m Material) {
	q := m.Quest
	if q.Err() != nil {
		g.Denied = append(g.Denied, Piece{Kind: policy.QuestFile, Name: "quest.md", Bytes: q.Bytes(), Trace: q.Bytes(),
			traces: func(bool) traced { return whole(q.Bytes(), true) }, Decision: policy.Decision{Reason: "quest.md is damaged, so its parts cannot be told apart", Source: "deny by default"}})
		return
	}
	part, dragon := prose(spoken, m.Stood), prose(closed, m.Stood)
	g.text(policy.QuestTitle, "quest/title.txt", q.titleFor(g.Role))
	g.text(policy.Mode, "quest/mode.txt", string(q.Mode))
	g.text(policy.Phase, "quest/phase.txt", q.Phase.label())
	g.section(policy.QuestNarrative, "quest/narrative.md", q.Narrative, q.before(sectionNarrative), part)
	g.criteria(q)
	g.section(policy.AnticipatedDragon, "quest/anticipated-dragon.md", q.Dragon, q.before(sectionDragon), dragon)
	g.assignments(q)
	g.progress(q, m.EvaluatorNames)
	g.section(policy.QuestOther, "quest/other.md", q.other(), 0, part)
}

// asked grants what a gate asks. Every criterion is required there.
func (g *Grants) asked(m Material) {
	if m.Quest != nil {
		whole := Grants{Role: g.Role, engine: g.engine}
		whole.quest(m)
		g.Denied = whole.Denied
	}
	g.text(policy.Mode, "quest/mode.txt", string(Ship))
	g.brought = !m.Asked.Agreed
	g.text(policy.SuccessCriteria, "quest/criteria.md", CriteriaText(m.Asked.Criteria))
	g.add(Piece{Kind: policy.WorkChange, Name: ChangeFile, Bytes: m.Asked.Change}, whole)
}

func (p Phase) label() string { return string(rune('0'+int(p))) + " " + p.String() }

// criteria grants the agreed list. The prose around it may say why a criterion
// was chosen; that is a piece of its own.
func (g *Grants) criteria(q *Quest) {
	list := q.Criteria
	if g.Role == policy.Dragon {
		list = slices.DeleteFunc(slices.Clone(list), func(c Criterion) bool { return !q.Mode.Assesses(c.Sort) })
	}
	g.text(policy.SuccessCriteria, "quest/criteria.md", CriteriaText(list))
	g.section(policy.QuestOther, "quest/about-the-criteria.md", q.criteriaProse, q.before(sectionCriteria),
		prose(spoken, nil))
}

// assignments leave traces by their reasons alone: the first column repeats
// the criteria.
func (g *Grants) assignments(q *Quest) {
	body := q.section(sectionAssignments)
	if body == "" {
		return
	}
	reasons := func(data []byte, words bool) traced {
		t := newTracer(data, words, nil)
		for _, a := range q.Assignments {
			for _, advisor := range []Advisor{a.Primary, a.Secondary} {
				if i := strings.Index(body, advisor.String()); i >= 0 && advisor.String() != "" {
					t.keep(span{i, i + len(advisor.String())})
				}
			}
		}
		return t.done()
	}
	g.section(policy.PartyAssignments, "quest/assignments.md", body, q.before(sectionAssignments), reasons)
}

// progress grants the whole log, else the reduced one.
func (g *Grants) progress(q *Quest, names []string) {
	g.section(policy.ProgressLog, "quest/progress-log.md", q.section(sectionProgress), q.before(sectionProgress),
		prose(spoken, nil))
	if !policy.Decide(g.Role, policy.ProgressLog).Allow && policy.Decide(g.Role, policy.ProgressReduced).Allow {
		g.text(policy.ProgressReduced, "quest/progress.md", reducedLog(q.Progress, names...))
	}
}

// other is what stands in quest.md outside the five sections and the known
// keys.
func (q *Quest) other() string {
	var b strings.Builder
	for _, f := range q.doc.Fields() {
		if f.Key != "campaign-mode" && f.Key != "phase" && f.Key != "created" {
			b.WriteString(f.Key + ": " + f.Value + "\n")
		}
	}
	for _, s := range q.doc.Sections() {
		if !isSectionName(s.Name) {
			b.WriteString("\n## " + s.Name + "\n" + s.Body)
		}
	}
	return b.String() + preamble(q.doc)
}

// preamble is the text before the first section, without the title.
func preamble(doc *frontmatter.Document) string {
	body, line := doc.Body()
	end := len(body)
	if sections := doc.Sections(); len(sections) > 0 {
		end = 0
		for n := sections[0].Line - line; n > 0; n-- {
			i := strings.IndexByte(body[end:], '\n')
			if i < 0 {
				break
			}
			end += i + 1
		}
	}
	var out strings.Builder
	title, _ := doc.Title()
	for l := range strings.Lines(body[:end]) {
		if text := strings.TrimSpace(l); text != "" && (title == "" || strings.Trim(text, "# ") != title) {
			out.WriteString(l)
		}
	}
	return out.String()
}

func (g *Grants) text(kind policy.Kind, name, text string) { g.section(kind, name, text, 0, whole) }

// section grants a text that begins behind so many lines of quest.md.
func (g *Grants) section(kind policy.Kind, name, text string, line int, trace tracing) {
	if strings.TrimSpace(text) == "" {
		return
	}
	data := []byte(strings.TrimRight(text, "\n") + "\n")
	g.add(Piece{Kind: kind, Name: name, Bytes: data, file: QuestFile, line: line}, trace)
}

// tracing makes a trace of a piece, for an audit or for the leak check.
type tracing func(data []byte, words bool) traced

// whole is the trace of a text that betrays itself by every word.
func whole(data []byte, _ bool) traced {
	return traced{text: bytes.Clone(data), kept: []span{{0, len(data)}}}
}

func (g *Grants) add(p Piece, trace tracing) {
	if len(p.Bytes) == 0 {
		return
	}
	p.Decision = policy.Decide(g.Role, p.Kind)
	if p.Decision.Allow {
		g.Given = append(g.Given, p)
		return
	}
	p.traces = func(words bool) traced { return trace(p.Bytes, words).less(g.engine()) }
	p.Trace = p.traces(true).text
	g.Denied = append(g.Denied, p)
}

// engineWords recognises the engine's own sentences.
func (m Material) engineWords() *shingle.Set {
	set, _ := shingle.NewSet(make([]byte, shingle.KeySize)) // it stays here
	for _, text := range m.EngineSays {
		set.Add("", []byte(text))
	}
	return set
}

// stoodInCouncil is what councils said that stood in the project.
func (m Material) stoodInCouncil() [][]byte {
	var out [][]byte
	if m.Stood == nil {
		return nil
	}
	for _, t := range m.Transcripts {
		messages, _ := messagesIn(t.Data)
		if t.Kind != policy.ConversationCouncil {
			continue
		}
		for _, s := range messages {
			text := strings.TrimSpace(string(t.Data[s.from:s.to]))
			for _, r := range m.Stood(text) {
				if r[0] >= 0 && r[0] < r[1] && r[1] <= len(text) {
					out = append(out, []byte(text[r[0]:r[1]]))
				}
			}
		}
	}
	return out
}
