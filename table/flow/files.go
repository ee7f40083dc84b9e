package flow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"conclave/engine"
	"conclave/internal/markdown"
	"conclave/table"
	"conclave/table/gm"
)

// writeFiles writes what the GM wants written, if it may stand there.
func (c *cycle) writeFiles(o *gm.Intent) error {
	if len(o.Files) == 0 {
		return nil
	}
	faults, err := engine.Do(c.r, fmt.Sprintf("check files %d", c.turns), func(context.Context) (map[int]string, error) {
		return c.checkFiles(o.Files), nil
	})
	if err != nil {
		return err
	}
	if c.Files == nil { // a cycle that an older version began
		return c.writeUnseen(o, faults)
	}
	found, err := engine.Do(c.r, fmt.Sprintf("find files %d", c.turns), func(context.Context) (map[int]found, error) {
		return c.findFiles(o.Files, faults)
	})
	if err != nil {
		return err
	}
	for i, f := range o.Files {
		fault := faults[i]
		if why := found[i].Blocked; why != "" {
			fault = f.Path + " cannot be written, nor can you change that: go on without it"
			c.Warn = append(c.Warn, "the game master wanted to write "+f.Path+" and could not: "+why)
		}
		if fault == "" {
			if fault, err = c.writeFile(i, f, found[i]); err != nil {
				return err
			}
		}
		if fault != "" {
			o.Faults = append(o.Faults, fault)
		}
	}
	return nil
}

// writeUnseen writes files without knowing how the GM had seen them.
func (c *cycle) writeUnseen(o *gm.Intent, faults map[int]string) error {
	var changes []engine.Change
	for i, f := range o.Files {
		if fault := faults[i]; fault != "" {
			o.Faults = append(o.Faults, fault)
			continue
		}
		c.telling.Wrote(f)
		changes = append(changes, c.fileChange(f))
	}
	err := c.t.commit(c.r, fmt.Sprintf("files %d", c.turns), changes)
	var edited *engine.EditedError
	if errors.As(err, &edited) {
		c.Warn = append(c.Warn, edited.Error()+": left as it is")
		return nil
	}
	return err
}

// found is a file of the campaign as it stood when the GM wanted to write it.
type found struct {
	Digest string `json:"digest"`
	// Text is what somebody else has made of it since the GM was given it, and
	// Kept where the GM's own text went instead.
	Text string `json:"text,omitempty"`
	Kept string `json:"kept,omitempty"`
	Torn bool   `json:"torn,omitempty"` // its last line has no end
	// Blocked is what stands in its way: only a person can clear it.
	Blocked string `json:"blocked,omitempty"`
	// After is what it will be once the GM's text is in it.
	After string `json:"after,omitempty"`
}

// findFiles looks at what is to be written outside of tmp/, and keeps what the
// GM may not put over the work of somebody else.
func (c *cycle) findFiles(files []gm.File, faults map[int]string) (map[int]found, error) {
	out := map[int]found{}
	will := map[string]string{} // what the turn itself makes of a file
	for i, f := range files {
		if strings.HasPrefix(f.Path, "tmp/") {
			continue
		}
		if o := c.t.campaign.Way(f.Path); o != nil {
			out[i] = found{Blocked: o.Error()}
			continue
		}
		if faults[i] != "" {
			continue
		}
		text, there, err := c.t.campaign.Look(f.Path)
		if err != nil {
			return nil, engine.Halt(err)
		}
		if mine, ok := will[f.Path]; ok {
			text, there = mine, true
		}
		now := found{Digest: engine.Absent, Torn: there && text != "" && !strings.HasSuffix(text, "\n")}
		if there {
			now.Digest = table.Hash([]byte(text))
		}
		_, own := will[f.Path]
		if !f.Append && !own && now.Digest != c.seen(f.Path) && text != f.Text {
			now.Text = text
			if now.Kept, err = c.keepAside(f); err != nil {
				return nil, engine.Halt(err)
			}
			out[i] = now
			continue
		}
		will[f.Path] = f.Text
		if f.Append {
			will[f.Path] = text + now.added(f)
		}
		now.After = table.Hash([]byte(will[f.Path]))
		out[i] = now
	}
	return out, nil
}

// added is what is added to a file: never to the end of somebody's last line.
func (n found) added(f gm.File) string {
	if n.Torn {
		return "\n" + f.Text
	}
	return f.Text
}

// seen is the digest of a file as the GM knows it.
func (c *cycle) seen(path string) string {
	if digest := c.Files[path]; digest != "" {
		return digest
	}
	return engine.Absent
}

// keepAside keeps the GM's own version of a file.
func (c *cycle) keepAside(f gm.File) (string, error) {
	kept, err := c.t.campaign.SetLate(strings.ReplaceAll(f.Path, "/", "-"), c.stamp(), []byte(f.Text))
	if err != nil {
		return "", err
	}
	return c.t.shown(kept), nil
}

// writeFile writes one file, or says why the GM has to write it again.
func (c *cycle) writeFile(i int, f gm.File, now found) (fault string, err error) {
	if now.Kept != "" {
		c.edited(f, now)
		return f.Path + " was not written: it is not as you were given it, somebody else has changed it. How it " +
			"stands now is told above; write it again so that it holds both", nil
	}
	change := c.fileChange(f)
	switch {
	case now.Digest == "": // in tmp/
	case f.Append:
		change.Data = []byte(now.added(f))
		c.Files[f.Path] = now.After
	default:
		change.Before = now.Digest
		c.Files[f.Path] = now.After
	}
	err = c.t.commit(c.r, fmt.Sprintf("file %d.%d", c.turns, i), []engine.Change{change})
	var edited *engine.EditedError
	if !errors.As(err, &edited) {
		if err == nil {
			c.telling.Wrote(f)
		}
		return "", err
	}
	now, err = engine.Do(c.r, fmt.Sprintf("keep file %d.%d", c.turns, i), func(context.Context) (found, error) {
		text, _, err := c.t.campaign.Look(f.Path)
		kept, kerr := c.keepAside(f)
		return found{Digest: table.Hash([]byte(text)), Text: text, Kept: kept}, engine.Halt(errors.Join(err, kerr))
	})
	if err != nil {
		return "", err
	}
	return c.writeFile(i, f, now)
}

// maxShown bounds in bytes how much of an edited file the GM is shown at once.
const maxShown = 24 << 10

// edited tells the GM what stands in a file that somebody else has changed, and
// the person what became of the two versions.
func (c *cycle) edited(f gm.File, now found) {
	c.Files[f.Path] = now.Digest
	text := now.Text
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[len(text)-maxShown:], "") + "\n(this is its end)"
	}
	c.Tell = append(c.Tell, fmt.Sprintf("%s stands now as somebody else has written it:\n\n%s\n", f.Path,
		strings.TrimSpace(markdown.Normalise(text))))
	c.Warn = append(c.Warn, fmt.Sprintf("somebody edited %s while the game master worked from an older one: the edit "+
		"stands, the game master was asked "+
		"to write it again, and its first version is kept as %s", f.Path, now.Kept))
}

// fileChange also keeps the books about files of tmp/.
func (c *cycle) fileChange(f gm.File) engine.Change {
	ch := engine.Change{Op: engine.Write, Path: c.t.file(f.Path), Data: []byte(f.Text)}
	if f.Append {
		ch.Op = engine.Append
	}
	name, tmp := strings.CutPrefix(f.Path, "tmp/")
	if !tmp {
		return ch
	}
	ch.Op = engine.Write // in tmp/ nothing is added to
	c.known[name] = table.Hash(ch.Data)
	if name == table.GMContextFile {
		text, warning, _ := gm.CheckContext(ch.Data, c.t.caps)
		ch.Data = text
		c.known[name], c.context = table.Hash(text), string(text)
		if warning != "" {
			c.Tell = append(c.Tell, warning)
		}
	} else if slug := table.Classify(f.Path).Character; slug != "" {
		c.prompt[slug] = true
	}
	return ch
}

// checkFiles says what may not be written, by number.
func (c *cycle) checkFiles(files []gm.File) map[int]string {
	faults := map[int]string{}
	for i, f := range files {
		if faults[i] = c.telling.GuardFile(f); faults[i] != "" {
			continue
		}
		delete(faults, i)
		if !strings.HasPrefix(f.Path, "tmp/") && c.t.campaign.Way(f.Path) != nil {
			faults[i] = f.Path + " cannot be written, nor can you change that: go on without it"
			continue
		}
		limit := c.t.caps.PartyKnowledge
		switch table.Classify(f.Path).Kind {
		case table.KindGMContext:
			if _, _, err := gm.CheckContext([]byte(f.Text), c.t.caps); err != nil {
				faults[i] = err.Error() + ": nothing was written"
			}
			continue
		case table.KindPrompt:
			continue // judged at the signal
		case table.KindSheet:
			limit = c.t.caps.Sheet
		case table.KindPartyKnowledge, table.KindWorldPrimer:
			if leaks := c.publicLeaks(f.Text); len(leaks) > 0 {
				faults[i] = fmt.Sprintf("%s was not written: everybody reads it, and it says %s", f.Path, leaks[0])
				continue
			}
		}
		if int64(len(f.Text)) > limit {
			faults[i] = (&table.CapError{What: f.Path, Size: int64(len(f.Text)), Limit: limit}).Error() + ": nothing was written"
		}
	}
	return faults
}

// publicLeaks are the secrets that a text for everybody gives away.
func (c *cycle) publicLeaks(text string) []table.Leak {
	kept, _, err := c.t.watch.From("")
	if err != nil {
		return []table.Leak{{Path: "campaign", Words: err.Error()}}
	}
	block, _ := c.t.opts.Guard.Sort(table.Guard(kept).Check(text))
	return block
}
