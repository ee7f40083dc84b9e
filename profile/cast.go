package profile

import "slices"

// Kind says what part of the cast an archetype belongs to.
type Kind string

const (
	animal   Kind = "animal"   // an advisor with a lens; its flex behaviours may be tuned
	npc      Kind = "npc"      // mentor, gatekeeper, adversary; a profile changes presentation only
	Educator Kind = "educator" // above the quest; in no pack
)

// Archetype is one member of the cast: what stays the same under every skin.
type Archetype struct {
	ID    string   // as in file names and front matter: cat
	Title string   // as shown without a profile: Cat
	Kind  Kind     //
	role  string   // advisor, mentor, gatekeeper, adversary, educator
	Core  string   // the behaviour that no profile may negate
	emoji string   // unless the profile has its own
	Lens  string   // in a council; empty for those who do not sit in it
	flex  []string // what a modifier may tune; empty for NPCs
}

// cast is in the order of every listing and of the council.
var cast = []Archetype{
	{"bear", "Bear", animal, "advisor", "vision and direction", "🐻", "Vision & Direction",
		[]string{"assertiveness", "long term or short term"}},
	{"cat", "Cat", animal, "advisor", "risk and scope", "🐱", "Risk & Scope", []string{"cautious or opportunistic framing", "verbosity"}},
	{"owl", "Owl", animal, "advisor", "timeline, process, progress", "🦉", "Process & Structure", []string{"strictness", "tolerance"}},
	{"puppy", "Puppy", animal, "advisor", "morale, opportunities", "🐶", "Opportunities & Momentum", []string{"enthusiasm or realism"}},
	{"rabbit", "Rabbit", animal, "advisor", "resources, stakeholders", "🐰", "Resources & Stakeholders",
		[]string{"proactiveness", "breadth of what counts as a resource"}},
	{"wolf", "Wolf", animal, "advisor", "cohesion, balanced participation", "🐺", "Cohesion & Balance",
		[]string{"directness", "tolerance of conflict"}},
	{"gandalf", "Gandalf", npc, "mentor", "mentors without rescuing", "🧙", "", nil},
	{"guardian", "Guardian", npc, "gatekeeper", `gates on quality; "not yet", never just "no"`, "🛡️", "", nil},
	{"dragon", "Dragon", npc, "adversary", "tests adversarially but fairly, only the agreed criteria", "🐉", "", nil},
	{"simon", "Simon", Educator, "educator", "synthesises the council, debriefs", "🎓", "Consensus", nil},
}

// packSize is how many of the cast a pack dresses: all but the educator.
const packSize = 9

// Cast returns the ten archetypes in their order: the six animals, the three
// NPCs, the educator.
func Cast() []Archetype { return slices.Clone(cast) }

// Lookup finds an archetype by its ID.
func Lookup(id string) (Archetype, bool) {
	for _, a := range cast {
		if a.ID == id {
			return a, true
		}
	}
	return Archetype{}, false
}

// inPack reports whether packs hold a profile of this archetype.
func (a Archetype) inPack() bool { return a.Kind != Educator }
