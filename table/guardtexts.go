package table

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// maxWalk bounds how deep a campaign's directories are followed.
const maxWalk = 8

// GuardTexts collects what the guard must keep from a character: every text
// file of the campaign that it may not read, and the GM's regions of those that
// it may. Files in tmp/ are of the moment and are left out. skipped names files
// that could not be taken, and why; their words are not guarded.
func (c *Campaign) GuardTexts(character string, caps Caps) (texts []GuardText, skipped []string, err error) {
	reader := Reader{Role: RolePlayer, Character: character}
	limit := caps.WithDefaults().PartyKnowledge
	err = walk(c.Root, "", 0, func(d *Dir, name, p string) {
		if Classify(p).Kind == KindHidden || strings.HasPrefix(p, "tmp/") || path.Ext(p) != ".md" && path.Ext(p) != ".txt" {
			return
		}
		fileLimit := limit
		if Classify(p).Kind == KindJournal {
			fileLimit = 0 // journals have no cap
		}
		data, err := d.Read(name, fileLimit)
		var tooBig *CapError
		if errors.As(err, &tooBig) {
			err = &CapError{p, tooBig.Size, tooBig.Limit}
		}
		if err != nil {
			skipped = append(skipped, err.Error())
			return
		}
		text := cleanText(string(data))
		if reader.May(p) {
			text = onlyGM(text)
		}
		if strings.TrimSpace(text) != "" {
			texts = append(texts, GuardText{p, text})
		}
	})
	return texts, skipped, err
}

// onlyGM is what RemoveGM removes.
func onlyGM(text string) string {
	var b strings.Builder
	depth, at := 0, 0
	for _, span := range gmTag.FindAllStringSubmatchIndex(text, -1) {
		if depth > 0 {
			b.WriteString(text[at:span[0]] + "\n")
		}
		if groups(text, span)[1] != "/" {
			depth++
		} else if depth > 0 {
			depth--
		}
		at = span[1]
	}
	if depth > 0 {
		b.WriteString(text[at:])
	}
	return strings.TrimSpace(b.String())
}

// walk visits the files below a directory in order, never through a link.
func walk(d *Dir, prefix string, depth int, visit func(d *Dir, name, path string)) error {
	names, err := d.List()
	if err != nil {
		return err
	}
	for _, n := range names {
		info, err := d.root.Lstat(n)
		if err != nil || strings.HasPrefix(n, ".") {
			continue
		}
		if !info.IsDir() {
			visit(d, n, prefix+n)
			continue
		}
		if depth == maxWalk {
			return fmt.Errorf("%s%s: directories nested deeper than %d", prefix, n, maxWalk)
		}
		sub, err := d.Sub(n)
		if err != nil {
			return err
		}
		err = walk(sub, prefix+n+"/", depth+1, visit)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
