package flow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"conclave/audit"
	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/record"
	"conclave/room"
	"conclave/seat"
	"conclave/toolbox"
	"conclave/workspace"
)

// Opening is how a conversation began: drawn once, recorded, the same at every
// replay.
type Opening struct {
	Run     string      `json:"run"` // of the seat's record
	Role    policy.Role `json:"role"`
	Start   time.Time   `json:"start"` // local time
	Flow    string      `json:"flow"`  // for the prompt's name
	Purpose string      `json:"purpose"`
	// Quest is quest.md as it stood; nil without one.
	Quest []byte `json:"quest,omitempty"`
	// Blank is a quest.md with nothing in it, in whose place a quest may come.
	Blank *string     `json:"blank,omitempty"`
	Title string      `json:"title"`
	Mode  quest.Mode  `json:"mode"`
	Phase quest.Phase `json:"phase"`
	Skins []wornSkin  `json:"skins,omitempty"`
	// History says that there is a log to be given to the party.
	History bool `json:"history,omitempty"`
	// Council are the next steps of the council that a definition begins from.
	Council []string `json:"council,omitempty"`
	// Heard are those who were consulted before.
	Heard []policy.Role `json:"heard,omitempty"`
	// Caller is the agent that asked in the person's place; "" for the person.
	Caller string `json:"caller,omitempty"`
}

// speaker is where words come from that are said to the agent.
func (o Opening) speaker() string {
	if o.Caller != "" {
		return audit.FromAgent
	}
	return audit.FromPerson
}

// attributes are what the record of a seat says of its conversation.
func (o Opening) attributes() map[string]string {
	m := map[string]string{"phase": fmt.Sprint(int(o.Phase)), "quest": o.questID(), "flow": o.Flow}
	if o.Caller != "" {
		m["caller"] = o.Caller
	}
	return m
}

// wornSkin is the skin of one member of the cast.
type wornSkin struct {
	Role  string `json:"role"`
	Skin  string `json:"skin"`
	Emoji string `json:"emoji,omitempty"`
}

// face is how a member of the cast appeared when the conversation began.
func (o Opening) face(role policy.Role) profile.Face {
	a, _ := profile.Lookup(string(role))
	for _, w := range o.Skins {
		if w.Role == string(role) {
			return profile.NewFace(a, &profile.Profile{Archetype: w.Role, SkinName: w.Skin, Emoji: w.Emoji})
		}
	}
	return profile.NewFace(a, nil)
}

func (o Opening) quest() *quest.Quest {
	if o.Quest == nil {
		return nil
	}
	return quest.Parse(o.Quest)
}

// readOpening reads the quest and the party. Without a quest it fails with
// quest.ErrNoQuest unless none is needed.
func (h *House) readOpening(role policy.Role, flow, purpose string, needsQuest bool) (Opening, error) {
	now := h.now()
	o := Opening{Run: record.NewRunID(h.opts.Now()), Role: role, Start: now, Flow: flow, Purpose: purpose,
		Title: quest.StandaloneQuest, Mode: quest.DefaultMode, Phase: quest.PhaseDefinition}
	store, err := quest.OpenStore(h.opts.Root)
	if err != nil {
		return o, err
	}
	defer store.Close()
	q, err := store.Quest()
	switch {
	case errors.Is(err, quest.ErrNoQuest) && !needsQuest:
	case err != nil:
		return o, err
	case q.Blank() && flow == "define" && len(q.Faults) == 1:
		blank := string(q.Bytes())
		o.Blank = &blank
	case q.Err() != nil:
		return o, q.Err()
	default:
		o.Quest, o.Title, o.Mode, o.Phase = q.Bytes(), q.Title, q.Mode, q.Phase
	}
	party, faults, err := profile.Project{Dir: h.opts.Root}.Party()
	if err != nil {
		return o, err
	}
	if len(faults) > 0 {
		// Nobody is seated: what a role wears must be known.
		return o, &profile.FaultsError{What: "the party of this campaign", Faults: faults}
	}
	for _, a := range profile.Cast() {
		if p := party[a.ID]; p != nil {
			if err := h.opts.Trust.Vouch(profileFile(a.ID), p.Bytes()); err != nil {
				return o, err
			}
			o.Skins = append(o.Skins, wornSkin{a.ID, p.SkinName, p.Emoji})
		}
	}
	log, err := h.history(context.Background())
	o.History = err == nil && len(log) > 0
	return o, nil
}

// heard lists whose conversations are on file.
func (h *House) heard() ([]policy.Role, error) {
	store, err := quest.OpenStore(h.opts.Root)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	list, err := store.Transcripts()
	var out []policy.Role
	for _, t := range list {
		if who := policy.Role(t.Agent); who.Known() && !slices.Contains(out, who) {
			out = append(out, who)
		}
	}
	return out, err
}

// extras are what a conversation's room holds beside the quest.
type extras struct {
	stage, expectation string
	checks, ownVerdict []byte
	work               func() (*quest.Work, error) // nil: none
	tools              []toolbox.Tool
	grants             []room.Grant // further pieces
	stamps             []string
}

// plan plans the seat of an opening.
func (h *House) plan(ctx context.Context, o Opening, x extras) (seat.Plan, error) {
	m, err := h.material()
	if err != nil {
		return seat.Plan{}, err
	}
	// What was agreed when the conversation began, whatever became of it.
	m.Quest = o.quest()
	m.Stage, m.Expectation, m.Checks, m.OwnVerdict = x.stage, x.expectation, x.checks, x.ownVerdict
	var work *quest.Work
	if x.work != nil {
		if work, err = x.work(); err != nil {
			return seat.Plan{}, err
		}
		defer work.Close()
	}
	if o.Role == policy.Dragon && m.Quest != nil && work != nil {
		if m.EarlierWork, err = h.earlierWork(m.Quest, work); err != nil {
			return seat.Plan{}, err
		}
	}
	f, err := h.planRoom(ctx, o.Role, m, work)
	if err != nil {
		return seat.Plan{}, err
	}
	f.Plan.Grants = append(f.Plan.Grants, x.grants...)
	system, err := h.system(o, m)
	if err != nil {
		return seat.Plan{}, err
	}
	p := seat.Plan{
		Role: string(o.Role), PromptName: "quest." + o.Flow,
		Attributes: o.attributes(),
		System:     system, Room: f.Plan, Denied: f.Denied, Tools: x.tools, Stamps: joined(x.stamps, f.Stamps),
		Account: h.opts.Account,
	}
	err = h.opts.Dress(&p)
	return p, err
}

// joined adds stamps, each once.
func joined(stamps, more []string) []string {
	out := slices.Clone(stamps)
	for _, s := range more {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// noQuest is how records name no quest.
const noQuest = "none"

// questID tells the records of one quest from those of another without giving
// its title away: a record's header is public to whoever gets a copy.
func (o Opening) questID() string {
	q := o.quest()
	if q == nil {
		return noQuest
	}
	return QuestID(q)
}

// QuestID is how records name a quest.
func QuestID(q *quest.Quest) string {
	sum := sha256.Sum256([]byte(q.Created + "\x00" + q.Title))
	return hex.EncodeToString(sum[:6])
}

// profileFile is where an archetype's profile lies.
func profileFile(id string) string { return ".campaign/profiles/" + id + ".md" }

// material is everything there is to grant from, with the texts by which
// agents are told about the campaign.
func (h *House) material() (quest.Material, error) {
	store, err := quest.OpenStore(h.opts.Root)
	if err != nil {
		return quest.Material{}, err
	}
	defer store.Close()
	m, err := store.Material()
	if err != nil {
		return m, err
	}
	for _, id := range slices.Sorted(maps.Keys(m.Profiles)) {
		if _, ok := profile.Lookup(id); !ok {
			delete(m.Profiles, id) // nobody's, and so nobody vouched for it
			continue
		}
		if err := h.opts.Trust.Vouch(profileFile(id), m.Profiles[id]); err != nil {
			return m, err
		}
	}
	m.Stood, m.EngineSays = h.stood, engineSays()
	m.PartyContext, err = partyContext(h.opts.Root)
	return m, err
}

// Material is everything that is here of a quest, whether there is one or not,
// and how records name it: for those who must keep it from somebody.
func (h *House) Material() (quest.Material, string, error) {
	m, err := h.material()
	if err != nil || m.Quest == nil || m.Quest.Err() != nil {
		return m, noQuest, err
	}
	return m, QuestID(m.Quest), nil
}

// maxContext bounds one file of party context: these are texts for agents.
const maxContext = 1 << 20

// partyContext reads CLAUDE.md and its like at the workspace's root.
func partyContext(root string) ([]quest.NamedText, error) {
	held, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer held.Close()
	entries, err := workspace.ReadDir(held, ".")
	if err != nil {
		return nil, err
	}
	var out []quest.NamedText
	for _, e := range entries {
		info, err := e.Info()
		if policy.ClassifyWorkspace(e.Name(), nil) != policy.PartyContext || err != nil || !info.Mode().IsRegular() || info.Size() > maxContext {
			continue
		}
		data, err := workspace.ReadFile(held, e.Name(), maxContext)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, quest.NamedText{Name: e.Name(), Data: data})
	}
	return out, nil
}
