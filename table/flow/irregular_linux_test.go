package flow

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"conclave/engine"
	"conclave/internal/sample"
	"conclave/table"
	"conclave/table/story"
)

// tree is a campaign whose files are not as they should be.
type tree struct {
	lay    func(r *irregular) // before the table is opened
	during func(r *irregular) // when everybody was asked and Tilda has answered
	// refuses is what opening says, waits what the cycle says that stays open,
	// and paid how many answers there were by then.
	refuses, waits string
	paid           int
	clear          func(r *irregular) // what the person is told to do
	tells          string             // is told once
	keeps          map[string]string  // what stands in a file at the end
	parked         bool               // Tilda's entry waits until the way is clear, then it is written
	unseated       bool               // Seraphine is not at the table
}

// irregular is a rig in which every call is counted.
type irregular struct {
	*rig
	gm, tilda, gideon *talker
}

func (r *irregular) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *irregular) remove(name string) { r.must(os.RemoveAll(r.path(name))) }

func (r *irregular) link(to, name string) {
	r.must(os.RemoveAll(r.path(name)))
	r.must(os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	r.must(os.Symlink(to, r.path(name)))
}

func (r *irregular) fifo(name string) {
	r.must(os.RemoveAll(r.path(name)))
	r.must(syscall.Mkfifo(r.path(name), 0o644))
}

func (r *irregular) folder(name string) {
	r.must(os.RemoveAll(r.path(name)))
	r.must(os.MkdirAll(r.path(name), 0o755))
	r.must(os.WriteFile(filepath.Join(r.path(name), "mine.txt"), []byte("mine"), 0o644))
}

// copied puts the file itself where a link or a second name was.
func (r *irregular) copied(name string) {
	data, err := os.ReadFile(r.path(name))
	r.must(err)
	r.must(os.Remove(r.path(name)))
	r.write(name, string(data))
}

const (
	state   = "story-state.md"
	diary   = "party/tilda-brannock-journal.md"
	answer1 = "tmp/tilda-brannock-response.md"
	scene1  = "scenes/001-opening.md"
)

// trees are the ways in which people, editors and cloud folders lay out a
// campaign, and what a table makes of each.
var trees = map[string]tree{
	"as it should be": {},
	"a link to a file of the campaign": {
		lay:   func(r *irregular) { r.write("vault/s.md", "CANARY-STORY\n"); r.link("vault/s.md", state) },
		waits: "campaigns/ash/story-state.md: a link, and links are not followed; put the thing itself there",
		clear: func(r *irregular) { r.copied(state) }},
	"a link to a cloud folder": {
		lay: func(r *irregular) {
			r.must(os.WriteFile(filepath.Join(r.dir, "cloud.md"), []byte("We know.\n"), 0o644))
			r.link("../../cloud.md", "party-knowledge.md")
		},
		waits: "campaigns/ash/party-knowledge.md: a link",
		clear: func(r *irregular) { r.copied("party-knowledge.md") }},
	"a link that leads nowhere": {
		lay:   func(r *irregular) { r.link("gone.md", "overview.md") },
		waits: "campaigns/ash/overview.md: a link",
		clear: func(r *irregular) { r.remove("overview.md") }},
	"a link from what everybody reads to what is secret": {
		lay:   func(r *irregular) { r.link(state, "world-primer.md") },
		waits: "campaigns/ash/world-primer.md: a link",
		clear: func(r *irregular) { r.remove("world-primer.md") }},
	"a journal that is a link": {
		lay:   func(r *irregular) { r.link("../"+state, diary) },
		waits: "campaigns/ash/" + diary + ": a link",
		clear: func(r *irregular) { r.remove(diary) }},
	"a sheet that is a link": {
		lay:      func(r *irregular) { r.link("../"+state, "party/seraphine-dawnwhisper.md") },
		tells:    "party/seraphine-dawnwhisper.md: a link, and links are not followed; put the thing itself there",
		unseated: true},
	"a FIFO": {
		lay:   func(r *irregular) { r.fifo(state) },
		waits: "campaigns/ash/story-state.md: a FIFO, not a regular file; remove it",
		clear: func(r *irregular) { r.remove(state); r.write(state, "CANARY-STORY\n") }},
	"a directory at a file's path": {
		lay:   func(r *irregular) { r.folder(state) },
		waits: "campaigns/ash/story-state.md: a directory, not a file; move it away",
		clear: func(r *irregular) { r.remove(state); r.write(state, "CANARY-STORY\n") }},
	"a directory at the scene's path": {
		lay:   func(r *irregular) { r.folder(scene1) },
		waits: "campaigns/ash/scenes/001-opening.md: a directory",
		clear: func(r *irregular) { r.remove(scene1) }},
	"scenes is a file": {
		lay:   func(r *irregular) { r.write("scenes", "my scenes") },
		waits: "campaigns/ash/scenes: a file, not a directory; move it away",
		clear: func(r *irregular) { r.remove("scenes") }},
	"scenes is a link": {
		lay:   func(r *irregular) { r.link("party", "scenes") },
		waits: "campaigns/ash/scenes: a link",
		clear: func(r *irregular) { r.remove("scenes") }},
	"a hard link": {
		lay:   func(r *irregular) { r.must(os.Link(r.path(state), filepath.Join(r.dir, "second.md"))) },
		waits: "campaigns/ash/story-state.md: a file with other names (hard links)",
		clear: func(r *irregular) { r.copied(state) },
	},
	"a file that may only be read": {
		lay: func(r *irregular) { r.must(os.Chmod(r.path(state), 0o444)) },
		tells: "the game master wanted to write story-state.md and could not: " +
			"campaigns/ash/story-state.md: a file that may only be read",
		keeps: map[string]string{state: baseFiles[state]}},
	"a journal that may only be read": {
		lay:   func(r *irregular) { r.write(diary, "# Mine\n"); r.must(os.Chmod(r.path(diary), 0o444)) },
		waits: "campaigns/ash/" + diary + ": a file that may only be read; `chmod u+w`",
		clear: func(r *irregular) { r.must(os.Chmod(r.path(diary), 0o644)) }},
	"CRLF": {
		lay: func(r *irregular) {
			for _, name := range []string{state, "party/tilda-brannock.md", "party-knowledge.md"} {
				r.write(name, strings.ReplaceAll(r.read(name), "\n", "\r\n"))
			}
		}},
	"no line feed at the end": {
		lay:   func(r *irregular) { r.write(state, "The miller drowned the heir.") },
		keeps: map[string]string{state: "The miller drowned the heir.\nThey looked.\n"}},
	"somebody else's files": {
		lay: func(r *irregular) {
			if os.Getuid() == 0 { // who is not root has none of somebody else's
				r.must(os.Chown(r.path(state), 65534, 65534))
				r.must(os.Chown(r.path("party/tilda-brannock.md"), 65534, 65534))
			}
		}},
	"a byte order mark": {
		lay: func(r *irregular) {
			r.write("party/tilda-brannock.md", "\ufeff"+r.read("party/tilda-brannock.md"))
			r.write("party-knowledge.md", "\ufeff"+r.read("party-knowledge.md"))
		}},
	"a NUL": {
		lay:   func(r *irregular) { r.write("party-knowledge.md", "a\x00b\n") },
		waits: "party-knowledge.md: not valid UTF-8",
		clear: func(r *irregular) { r.write("party-knowledge.md", "We know.\n") }},
	"a very long line": {
		lay: func(r *irregular) { r.write("party-knowledge.md", strings.Repeat("drip ", 80_000)) }},
	"a file larger than anybody reads": {
		lay:   func(r *irregular) { r.write("party-knowledge.md", strings.Repeat("drip ", 120_000)) },
		waits: "party-knowledge.md: 600000 bytes, limit 524288",
		clear: func(r *irregular) { r.write("party-knowledge.md", "We know.\n") }},
	"twins but for case": {
		lay:   func(r *irregular) { r.write("party/Tilda-Brannock.md", "# Tilda\n") },
		waits: "differ only in case; rename one",
		clear: func(r *irregular) { r.remove("party/Tilda-Brannock.md") }},
	"conflicted copies and swap files": {
		lay: func(r *irregular) {
			r.write("story-state (conflicted copy).md", "old")
			r.write(".story-state.md.swp", "b0VIM")
			r.write("party/.tilda-brannock.md.swp", "b0VIM")
			r.link("someone@host.123:456", ".#story-state.md") // as Emacs locks a file
		}},
	"tmp is a link": {
		lay:     func(r *irregular) { r.must(os.Mkdir(r.path("t"), 0o755)); r.link("t", "tmp") },
		refuses: "campaigns/ash/tmp: a link, and links are not followed"},
	"party is a link": {
		lay: func(r *irregular) {
			r.must(os.Rename(r.path("party"), r.path("real")))
			r.link("real", "party")
		},
		refuses: "campaigns/ash/party: a link, and links are not followed"},
	"a FIFO lies where an answer will": {
		lay:   func(r *irregular) { r.must(os.MkdirAll(r.path("tmp"), 0o755)); r.fifo(answer1) },
		tells: answer1 + " belongs to no open cycle"},

	"an answer's place is taken by a directory": {
		during: func(r *irregular) { r.folder(answer1) },
		tells:  answer1 + " was laid there by hand when tilda-brannock had answered: set aside"},
	"an answer's place is taken by a FIFO": {
		during: func(r *irregular) { r.fifo(answer1) },
		tells:  answer1 + " was laid there by hand when tilda-brannock had answered: set aside"},
	"the narrative's place is taken by a link": {
		during: func(r *irregular) { r.link("../"+state, "tmp/"+table.NarrativeFile) },
		tells:  "tmp/narrative-for-journal.md was no file of the table",
		keeps:  map[string]string{state: baseFiles[state] + "They looked.\n"}},
	"a prompt is exchanged for a link": {
		during: func(r *irregular) { r.link("../"+state, "tmp/tilda-brannock-prompt.md") },
		tells:  "tmp/tilda-brannock-prompt.md was exchanged during the cycle for what is no file"},
	"the scene's place is taken when all have answered": {
		during: func(r *irregular) { r.folder(scene1) },
		waits:  "campaigns/ash/scenes/001-opening.md: a directory", paid: 5,
		clear: func(r *irregular) { r.remove(scene1) }},
	"scenes becomes a file when all have answered": {
		during: func(r *irregular) { r.write("scenes", "x") },
		waits:  "not a directory", paid: 5,
		clear: func(r *irregular) { r.remove("scenes") }},
	"the story state becomes a link when all have answered": {
		during: func(r *irregular) { r.write("v.md", "x\n"); r.link("v.md", state) },
		tells:  "the game master wanted to write story-state.md and could not: campaigns/ash/story-state.md: a link",
		keeps:  map[string]string{"v.md": "x\n"}},
	"a journal becomes a directory": {
		during: func(r *irregular) { r.folder(diary) },
		parked: true,
		clear:  func(r *irregular) { r.remove(diary) }},
	"a sheet vanishes": {
		during: func(r *irregular) { r.remove("party/tilda-brannock.md"); r.remove("party/seraphine-dawnwhisper.md") }},
	"the dice log vanishes": {
		during: func(r *irregular) { r.remove(table.DiceLogFile) },
		waits:  "conclave table dice seal ash", paid: 4,
		clear: func(r *irregular) {
			if _, err := r.table.dice.Seal("it vanished"); err != nil {
				r.t.Fatal(err)
			}
		}},
}

// Whatever a campaign looks like: what cannot be is said before anybody is
// asked, with the file and the way out; what comes in between keeps the cycle
// open with every answer in it; nobody is asked twice, and nothing said twice.
func TestIrregularTrees(t *testing.T) {
	t.Parallel()
	if len(trees) < 20 {
		t.Fatalf("%d trees", len(trees))
	}
	names := slices.Sorted(maps.Keys(trees))
	for _, i := range sample.Pick(t, len(names), 4, len(names)/2) {
		t.Run(names[i], func(t *testing.T) {
			t.Parallel()
			trees[names[i]].play(t)
		})
	}
}

func (tree tree) play(t *testing.T) {
	r := &irregular{rig: newRig(t, nil)}
	r.gm = r.listening("gm",
		gmSays("session-start", gmContext+prompt(tilda, "QUICK_REACTION")+prompt(gideon, "QUICK_REACTION")+
			"Water drips.\n[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]")+
			gmSays("Event: responses", "They look down.\n[ROLL: 1d20 | gm | luck]\n"+
				"[FILE+: story-state.md]\nThey looked.\n[/FILE]")+
			"always on Event: re\n  say So be it.\n"+ // a repair
			gmSays("Event: rolls", "It ends."))
	once := sync.OnceFunc(func() {
		if tree.during != nil {
			tree.during(r)
		}
	})
	both := make(chan struct{}) // closed when both have been asked: what comes then comes too late for neither
	waiting := new(atomic.Int32)
	answers := func(text string) *talker {
		asked := sync.OnceFunc(func() {
			if waiting.Add(1) == 2 {
				close(both)
			}
		})
		return &talker{reply: func(ctx context.Context, _ string) (string, error) {
			asked()
			select {
			case <-both:
			case <-ctx.Done():
				return "", ctx.Err()
			}
			once()
			return text, nil
		}}
	}
	r.tilda, r.gideon = answers("I hold the lantern."), answers("I try the hatch.")
	r.agents[tilda], r.agents[gideon] = r.tilda, r.gideon
	if tree.lay != nil {
		tree.lay(r)
	}
	if tree.refuses != "" {
		_, err := Open(t.Context(), r.opts)
		if err == nil || !strings.Contains(err.Error(), tree.refuses) {
			t.Fatalf("opened: %v", err)
		}
		return
	}
	r.open()
	_, err := r.table.Say(t.Context(), start)
	if tree.waits != "" {
		r.waited(tree, err)
		tree.clear(r)
		if _, err = r.table.Recover(t.Context()); err != nil {
			t.Fatalf("the way is clear, and yet: %v", err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	r.drain()
	if tree.parked {
		r.unpark(tree)
	}
	r.nothingLost(tree)
}

// waited: the cycle is open, and only what was answered is paid for.
func (r *irregular) waited(tree tree, err error) {
	r.t.Helper()
	var cut *engine.CutError
	if !errors.As(err, &cut) || !strings.Contains(err.Error(), tree.waits) {
		r.t.Fatalf("got %v\nwant a cycle that waits: %s", err, tree.waits)
	}
	if paid := len(r.gm.heard) + len(r.tilda.heard) + len(r.gideon.heard); paid != tree.paid {
		r.t.Errorf("%d answers were paid for, not %d", paid, tree.paid)
	}
	if err := r.table.ready(r.t.Context()); !errors.Is(err, ErrOpen) {
		r.t.Fatalf("no cycle is open: %v", err)
	}
}

// unpark: the next start writes what was parked.
func (r *irregular) unpark(tree tree) {
	r.t.Helper()
	r.close()
	tree.clear(r)
	r.open()
	if _, err := r.table.Recover(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.table.background.Wait()
}

func (r *irregular) nothingLost(tree tree) {
	t := r.t
	t.Helper()
	e := r.lastCommit()
	eq(t, "tilda", outcome(e, tilda).Response, "I hold the lantern.\n")
	eq(t, "gideon", outcome(e, gideon).Response, "I try the hatch.\n")
	eq(t, "tilda was asked", len(r.tilda.heard), 1)
	eq(t, "gideon was asked", len(r.gideon.heard), 1)
	eq(t, "rolls", len(e.Rolls), 1)
	for _, k := range []*talker{r.tilda, r.gideon} {
		hasNot(t, "what a player got", k.all(), "CANARY-STORY")
	}
	told := story.TextOf(e.Blocks, table.SeatTable, table.Roster{}.Called)
	eq(t, "told", strings.Count(told, "They look down."), 1)
	eqs(t, "tmp", r.tmp(), table.NarrativeFile)
	eq(t, "scene", strings.Count(r.read(scene1), "They look down."), 1)
	shown, notes := 0, 0
	for _, n := range r.notices {
		if n.Kind == "narrative" {
			shown += strings.Count(story.TextOf(n.Blocks, table.SeatTable, table.Roster{}.Called), "They look down.")
		}
		if tree.tells != "" && n.Kind == "note" {
			notes += strings.Count(n.Text, tree.tells)
		}
	}
	eq(t, "shown", shown, 1)
	if tree.tells != "" {
		eq(t, "said: "+tree.tells, notes, 1)
	}
	for _, who := range []string{tilda, gideon, sera} {
		if who != sera || !tree.unseated {
			eq(t, "entries of "+who, strings.Count(r.read("party/"+who+"-journal.md"), "### "), 1)
		}
	}
	for name, want := range tree.keeps {
		eq(t, name, r.read(name), want)
	}
}
