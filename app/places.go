package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/policy"
	"conclave/profile"
	"conclave/quest"
	"conclave/quest/flow"
	"conclave/table"
	"conclave/table/people"
	"conclave/table/story"
	door "conclave/workspace"
)

// places are the workspaces that the archive knows, and those that were noted when
// the engine worked there. Of each is read what its own
// files say of a quest and of tables, by the door; nothing of it is run, opened or
// locked. Of others than the one that is served only those are looked at in which
// the engine has worked for this person: its directory is there, and did not come
// with a clone.
type places struct {
	app *App

	mu     sync.Mutex
	roots  []string
	looked time.Time // for roots
	noted  time.Time // see App.notedAt, when they were looked for
	read   map[string]*place
}

// place is how a workspace stands by its files.
type place struct {
	sign   string // of the files that it was read from
	quest  *placeQuest
	tables []placeTable
}

type placeQuest struct {
	id, title string
	phase     quest.Phase
	next      []string // what is offered there
	fault     string
	at        time.Time
}

type placeTable struct {
	name    string
	scene   string
	awaited []string // who is asked; none where that is nobody else's
	at      time.Time
}

const (
	// maxPlaces is how many workspaces are looked at: those with the latest runs.
	maxPlaces = 64
	// placesFor is how long it holds which directories are workspaces.
	placesFor = time.Minute
)

// at are the workspaces, the one that is served first.
func (p *places) at(known func() []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	noted := p.app.notedAt()
	if p.roots != nil && time.Since(p.looked) < placesFor && noted.Equal(p.noted) {
		return p.roots
	}
	here, err := p.app.findRoot()
	if err != nil {
		return nil // whoever asks for the quest is told why
	}
	own, err := p.app.ownConfig()
	if err != nil {
		return nil
	}
	p.roots, p.looked, p.noted = []string{here}, time.Now(), noted
	dirs := known()
	for _, n := range p.app.noted() {
		dirs = append(dirs, n.root)
	}
	for _, dir := range dirs {
		root, err := door.Find(dir, own.Workspaces, p.app.userConfigFile())
		if err != nil || !door.Begun(root) || !p.worked(root) ||
			slices.ContainsFunc(p.roots, func(have string) bool { return linked(have) == linked(root) }) {
			continue
		}
		if p.roots = append(p.roots, root); len(p.roots) == maxPlaces {
			break
		}
	}
	return p.roots
}

// worked says that the engine has worked in a workspace, and not elsewhere in what
// was cloned from there.
func (p *places) worked(root string) bool {
	quiet := *p.app
	quiet.Show = nil // nobody asked for this workspace
	_, err := os.Lstat(filepath.Join(root, engineDir))
	return err == nil && quiet.cameAlong(root) == nil
}

// look reads how a workspace stands, if its files have changed.
func (p *places) look(root string) *place {
	sign, names := signOf(root)
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.read[root]; have != nil && have.sign == sign {
		return have
	}
	at := &place{sign: sign, quest: p.readQuest(root)}
	if !p.worked(root) {
		names = nil
	}
	for _, name := range names {
		if t, ok := readTable(root, name); ok {
			at.tables = append(at.tables, t)
		}
	}
	if p.read == nil {
		p.read = map[string]*place{}
	}
	p.read[root] = at
	return at
}

// changed says whether files of some workspace have changed since it was read, or
// one was noted.
func (p *places) changed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.roots != nil && !p.app.notedAt().Equal(p.noted) {
		return true
	}
	for root, have := range p.read {
		if sign, _ := signOf(root); sign != have.sign {
			return true
		}
	}
	return false
}

// signOf is another text when files have changed by which a workspace stands, and
// the names of its tables.
func signOf(root string) (sign string, tables []string) {
	var b strings.Builder
	look := func(path ...string) {
		if info, err := os.Lstat(filepath.Join(path...)); err == nil {
			b.WriteString(fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano(), ";"))
		} else {
			b.WriteByte(';')
		}
	}
	look(root, filepath.FromSlash(quest.QuestFile))
	tables, _ = table.Campaigns(root) // what cannot be listed is not shown
	for _, name := range tables {
		b.WriteString(name)
		look(story.LogPath(root, name))
		look(people.AwaitedPath(root, name))
	}
	return b.String(), tables
}

func (p *places) readQuest(root string) *placeQuest {
	store, err := quest.OpenStore(root)
	if err != nil {
		return nil
	}
	defer store.Close()
	q, err := store.Quest()
	if err != nil {
		return nil
	}
	found := &placeQuest{id: flow.QuestID(q), title: q.Title, phase: q.Phase, at: changedAt(root, quest.QuestFile)}
	if err := q.Err(); err != nil {
		found.fault = err.Error()
		return found
	}
	var face func(policy.Role) profile.Face
	if here, err := p.app.findRoot(); err == nil && here == root { // how a cast is called elsewhere is theirs to say
		party, _, _ := profile.Project{Dir: root}.Party() // what is wrong with it a flow says
		face = func(who policy.Role) profile.Face {
			face, _ := party.Face(string(who))
			return face
		}
	}
	at, offers := q.Offers(face)
	if at == quest.AfterDebrief {
		return nil // it is over
	}
	for _, o := range offers {
		found.next = append(found.next, o.Label)
	}
	return found
}

func changedAt(root, name string) time.Time {
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime().UTC()
}

// readTable reads a table that is in session.
func readTable(root, name string) (t placeTable, ok bool) {
	st, err := story.Load(root, name)
	if err != nil || !st.InSession {
		return t, false
	}
	t = placeTable{name: name, scene: st.Scene.Title, at: changedAt(story.LogPath(root, name), ".")}
	if a, err := people.LookAwaited(root, name); err == nil && a != nil {
		for _, seat := range a.Seats {
			t.awaited = append(t.awaited, table.Roster{}.Called(seat))
		}
	}
	return t, true
}
