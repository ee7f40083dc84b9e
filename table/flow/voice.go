package flow

import (
	"context"
	"fmt"
	"strings"
	"time"

	"conclave/table"
	"conclave/table/calls"
	"conclave/table/desk"
	"conclave/table/relay"
)

// Voiced is how the character of a seat says what its person typed of their own
// accord, with what to look at in it; "" where nobody finds words for it.
func (t *Table) Voiced(ctx context.Context, who, typed string) (prose string, remarks []string, err error) {
	if desk.KindOf(who) != desk.Player || t.opts.Voice == nil {
		return "", nil, nil
	}
	s := t.snapshot()
	var lately []string
	for _, blocks := range s.Rounds {
		lately = append(lately, strings.TrimSpace(table.TextFor(blocks, who)))
	}
	view, err := t.campaign.PlayerContext(who, nil, table.ContextOptions{Caps: t.caps,
		Recent: strings.TrimSpace(strings.Join(lately, "\n\n"))})
	if err != nil {
		return "", nil, err
	}
	intro := fmt.Sprintf("Campaign: %s\nCharacter: %s\nScene: %s\n\n%s", t.opts.Campaign, who, s.Scene.Title, view.Text())
	run := t.runID("free-"+time.Now().UTC().Format("20060102t150405")+"-"+calls.ShortID(), who)
	v := t.seats.FreeVoice(run, who, intro, view)
	if v == nil {
		return "", nil, nil
	}
	answer, err := v.Find(ctx, relay.Words, typed)
	if err == nil {
		prose, err = relay.Take(answer, t.caps)
	}
	if closing := v.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", nil, err
	}
	roster, err := t.roster()
	return prose, relay.Remarks(prose, who, roster), err
}
