package quest

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"conclave/frontmatter"
	"conclave/policy"
	"conclave/profile"
)

// Piece is one thing a role is or is not given.
type Piece struct {
	Kind     policy.Kind
	Name     string // its path in the room, or what it is called when denied
	Bytes    []byte
	Decision policy.Decision
	// Trace is the part of Bytes whose words betray this source: what the
	// source itself quotes from elsewhere is left out. Fingerprints are made
	// from it.
	Trace []byte
}

// Grants are a role's pieces. Denied pieces never enter a room; their traces
// are what an audit looks for.
type Grants struct {
	Role   policy.Role
	Given  []Piece
	Denied []Piece
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
	// EvaluatorNames are the names the Guardian and the Dragon go under, so
	// that a reduced log does not speak of them in disguise.
	EvaluatorNames []string
}

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
	g := &Grants{Role: role}
	if m.Quest != nil {
		g.quest(m)
	}
	g.text(policy.StageName, "stage.txt", m.Stage)
	g.text(policy.Expectation, "expectation.md", m.Expectation)
	g.add(Piece{Kind: policy.CheckResults, Name: "checks.md", Bytes: m.Checks, Trace: m.Checks})
	g.add(Piece{Kind: policy.VerdictOwn, Name: "verdict.md", Bytes: m.OwnVerdict, Trace: m.OwnVerdict})
	for _, t := range m.Transcripts {
		g.add(Piece{Kind: t.Kind, Name: "conversations/" + t.Name, Bytes: t.Data, Trace: conversationTrace(t)})
	}
	g.add(Piece{Kind: policy.CouncilReport, Name: "council-report.md", Bytes: m.CouncilReport, Trace: unquoted(m.CouncilReport)})
	for _, who := range slices.Sorted(maps.Keys(m.Profiles)) {
		kind, name := policy.OtherProfile, "profiles/"+who+".md"
		if policy.Role(who) == role {
			kind, name = policy.OwnProfile, "profile.md"
		}
		g.add(Piece{Kind: kind, Name: name, Bytes: m.Profiles[who], Trace: m.Profiles[who]})
	}
	if role == policy.Dragon { // to everyone else a stage's work is the current one
		for _, f := range m.EarlierWork {
			g.add(Piece{Kind: policy.StageWork, Name: "earlier/" + f.Name, Bytes: f.Data, Trace: f.Data})
		}
	}
	for _, f := range m.PartyContext {
		g.add(Piece{Kind: policy.PartyContext, Name: "context/" + f.Name, Bytes: f.Data, Trace: withoutQuotes(f.Data, quoting{evidence: true})})
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
	for _, p := range []Piece{
		{Kind: policy.QuestNarrative, Name: "narrative.md", Bytes: []byte(q.Narrative)},
		{Kind: policy.AnticipatedDragon, Name: "anticipated-dragon.md", Bytes: []byte(q.Dragon)},
	} {
		p.Name, p.Trace = "archive/"+strings.TrimSuffix(f.Name, ".md")+"/"+p.Name, p.Bytes
		g.add(p)
	}
}

// quest grants the parts of quest.md. A damaged file is granted to nobody: no
// one could tell what is in it.
func (g *Grants) quest(m Material) {
	q := m.Quest
	if q.Err() != nil {
		g.Denied = append(g.Denied, Piece{Kind: policy.QuestFile, Name: "quest.md", Bytes: q.Bytes(), Trace: q.Bytes(),
			Decision: policy.Decision{Reason: "quest.md is damaged, so its parts cannot be told apart", Source: "deny by default"}})
		return
	}
	g.text(policy.QuestTitle, "quest/title.txt", q.titleFor(g.Role))
	g.text(policy.Mode, "quest/mode.txt", string(q.Mode))
	g.text(policy.Phase, "quest/phase.txt", q.Phase.label())
	g.text(policy.QuestNarrative, "quest/narrative.md", q.Narrative)
	g.criteria(q)
	g.text(policy.AnticipatedDragon, "quest/anticipated-dragon.md", q.Dragon)
	g.assignments(q)
	g.progress(q, m.EvaluatorNames)
	g.text(policy.QuestOther, "quest/other.md", q.other())
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
	g.text(policy.QuestOther, "quest/about-the-criteria.md", q.criteriaProse)
}

// assignments leave traces by their reasons alone: the first column repeats
// the criteria.
func (g *Grants) assignments(q *Quest) {
	var reasons strings.Builder
	for _, a := range q.Assignments {
		reasons.WriteString(a.Primary.String() + "\n" + a.Secondary.String() + "\n")
	}
	body := q.section(sectionAssignments)
	if body != "" {
		g.add(Piece{Kind: policy.PartyAssignments, Name: "quest/assignments.md", Bytes: []byte(body + "\n"), Trace: []byte(reasons.String())})
	}
}

// progress grants the whole log, else the reduced one.
func (g *Grants) progress(q *Quest, names []string) {
	g.text(policy.ProgressLog, "quest/progress-log.md", q.section(sectionProgress))
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

func (g *Grants) text(kind policy.Kind, name, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	data := []byte(strings.TrimRight(text, "\n") + "\n")
	g.add(Piece{Kind: kind, Name: name, Bytes: data, Trace: data})
}

func (g *Grants) add(p Piece) {
	if len(p.Bytes) == 0 {
		return
	}
	p.Decision = policy.Decide(g.Role, p.Kind)
	if p.Decision.Allow {
		g.Given = append(g.Given, p)
	} else {
		g.Denied = append(g.Denied, p)
	}
}
